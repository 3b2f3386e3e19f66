"""File systems as a layer: what a platform mounts for its trials, whatever its type."""
