"""``bareline doctor``: what works here, what does not, why, and the command that fixes it."""
