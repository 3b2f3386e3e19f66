"""Probes of MPI functions."""
