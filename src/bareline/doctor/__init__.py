"""``bareline doctor``: checks of this machine, with the reason and the fix of each failed check."""
