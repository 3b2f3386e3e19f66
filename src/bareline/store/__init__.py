"""Run directories: what is measured is written here once and read from here."""
