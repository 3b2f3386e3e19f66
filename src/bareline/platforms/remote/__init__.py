"""What guests, hosts reached by ssh and nodes of a batch system share.

`allocation` runs trials, `native` brings programs there, `software` loads what they want, `keys`
are those of nodes that bareline makes.
"""
