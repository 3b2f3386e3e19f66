"""File systems as a layer: mounts for the trials of any type of platform."""
