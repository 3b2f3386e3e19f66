"""Common parts of guests, of hosts reached by ssh, and of nodes of a batch system."""
