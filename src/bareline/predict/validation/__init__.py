"""Predictions of every pair of platforms next to measured times, and the term that is wrong."""
