"""Layers between an application and the machine: options that several platform types have."""
