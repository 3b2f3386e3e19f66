"""Containers as a layer: two platforms can then differ in their container runtime only."""
