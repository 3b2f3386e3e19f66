"""Studies: every TOML file here is one, called as its file."""
