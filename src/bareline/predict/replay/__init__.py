"""The time of a profiled program from its trace or profile, with the curves of a platform."""
