"""Platforms that are this machine: its own processes, and its network namespaces."""
