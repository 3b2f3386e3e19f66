"""Nodes of a Slurm cluster.

`commands` asks Slurm, `options` says what to ask for, `job` holds an allocation, `allocation` runs
trials in it, `platform` brings it up.
"""

from bareline.platforms.slurm.platform import SlurmPlatform

PLATFORM = SlurmPlatform
