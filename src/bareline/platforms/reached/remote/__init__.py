"""Common parts of guests, hosts reached by ssh and nodes of a batch system."""
