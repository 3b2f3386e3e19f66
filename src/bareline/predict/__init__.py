"""Predictions of a profiled application's time on another platform, with intervals and causes."""
