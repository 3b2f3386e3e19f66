"""The display of a profile, in the terminal and as a page."""
