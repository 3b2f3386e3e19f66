"""What does a platform cost an MPI application: measure, compare, explain."""

__version__ = "0.1.0"
