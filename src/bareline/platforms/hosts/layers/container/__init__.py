"""Containers as a layer: a runtime on any platform's nodes, which then differ in it alone."""
