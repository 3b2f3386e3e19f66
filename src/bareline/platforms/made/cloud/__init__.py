"""Instances of a cloud: creation, waiting, repair, and the removal of all instances."""
