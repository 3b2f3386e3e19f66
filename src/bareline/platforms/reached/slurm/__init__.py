"""The platform type of nodes of a Slurm cluster."""

from bareline.platforms.reached.slurm.platform import SlurmPlatform

PLATFORM = SlurmPlatform
