"""The validation of predictions: every pair of platforms, measured times, and wrong terms."""
