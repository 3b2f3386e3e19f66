"""A program's period (its repeated calls) on more ranks: the calls, their check, and the time."""
