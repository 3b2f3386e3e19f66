"""Nodes of a Slurm cluster.

`commands` asks Slurm, `job` holds an allocation, `platform` runs trials in it.
"""

from bareline.platforms.slurm.platform import SlurmPlatform

PLATFORM = SlurmPlatform
