"""Run directories: measurements are written here once and read from here."""
