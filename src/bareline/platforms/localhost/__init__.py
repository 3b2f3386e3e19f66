"""Platforms on this machine: its own processes, and its network namespaces."""
