"""What guests, hosts reached by ssh and nodes of a batch system share.

`conversation` keeps a script running on nodes and talks with it, `trial` does the housekeeping of a
trial by one such script, `allocation` runs trials, `files` brings programs there.
"""
