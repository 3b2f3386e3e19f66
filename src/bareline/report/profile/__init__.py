"""A profile as people read it: in the terminal and as a page."""
