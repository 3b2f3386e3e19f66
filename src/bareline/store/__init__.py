"""Run directories, which contain the measurements: written once, and read many times."""
