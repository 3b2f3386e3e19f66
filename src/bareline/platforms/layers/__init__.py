"""The former name of `bareline.platforms.hosts.layers`."""
