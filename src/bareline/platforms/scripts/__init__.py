"""Scripts that run on nodes, and what bareline and they say to each other.

The files without an ending are the scripts. `conversation` keeps one running on nodes and talks
with it, `housekeeping` does by it what a trial needs, `description` reads what nodes say of
themselves.
"""
