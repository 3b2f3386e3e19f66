"""Predictions of a profiled application on another platform, with intervals and causes of loss."""
