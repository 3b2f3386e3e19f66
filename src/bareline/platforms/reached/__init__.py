"""Platforms of nodes that exist and are reached: by ssh, Slurm or a batch job's own list."""
