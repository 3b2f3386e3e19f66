"""Readers that few need: each is found by bareline once this package is installed."""
