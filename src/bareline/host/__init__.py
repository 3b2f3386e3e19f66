"""The machine that bareline runs on: cache, process marks, external programs, locks."""
