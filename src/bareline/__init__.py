"""bareline: what does a platform cost an MPI application?"""

__version__ = "0.1.0"
