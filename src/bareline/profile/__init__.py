"""What an application asks of MPI: run it under the profiler, read and sum up its profile."""
