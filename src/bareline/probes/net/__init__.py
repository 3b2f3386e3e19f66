"""Probes of the network below MPI."""
