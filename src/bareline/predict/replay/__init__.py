"""The time of a profiled program from its trace or its profile, on the curves of a platform."""
