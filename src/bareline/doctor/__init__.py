"""``bareline doctor``: the working parts of this machine, the missing ones, why, and the fix."""
