"""Format the results of the analysis as English sentences."""
