"""Profiles of an application's MPI calls: making, reading and summing up profiles."""
