"""Probes of storage."""
