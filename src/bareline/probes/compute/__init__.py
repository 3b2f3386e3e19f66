"""Probes of floating-point arithmetic."""
