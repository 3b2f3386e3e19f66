"""The file system layer: mounts for the trials of any type of platform."""
