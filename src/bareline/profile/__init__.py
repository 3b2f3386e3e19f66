"""Profiles of an application's MPI calls: run under the profiler, read, sum up."""
