"""Layers between an application and any machine: options of several platform types."""
