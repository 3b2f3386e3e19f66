"""A program's period on more ranks than were profiled: its calls, their check, and its time."""
