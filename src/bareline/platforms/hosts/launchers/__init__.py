"""Launchers: one module per MPI library, and Slurm's own."""
