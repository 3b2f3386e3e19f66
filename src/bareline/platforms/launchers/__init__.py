"""The former place of `bareline.platforms.hosts.launchers`."""
