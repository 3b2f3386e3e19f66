"""The machine that bareline runs on: cache, owners, external programs, locks."""
