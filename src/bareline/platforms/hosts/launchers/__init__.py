"""Launchers of MPI jobs: a module for each MPI library, and one for Slurm's srun."""
