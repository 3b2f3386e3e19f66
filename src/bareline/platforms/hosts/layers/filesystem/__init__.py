"""File systems as a layer: mounts for the trials of a platform of any type."""
