"""Platforms on this machine: the machine itself as one node, or network namespaces as nodes."""
