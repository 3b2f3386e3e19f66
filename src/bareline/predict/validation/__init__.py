"""The comparison of predictions for every pair of platforms with measured times."""
