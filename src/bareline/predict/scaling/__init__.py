"""A program's period on more ranks than it was profiled on: its calls, their check, its time."""
