"""Nodes of a Slurm cluster."""

from bareline.platforms.slurm.platform import SlurmPlatform

PLATFORM = SlurmPlatform
