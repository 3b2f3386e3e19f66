"""Platforms of existing nodes that are reached by ssh, by Slurm, or as nodes of a batch job."""
