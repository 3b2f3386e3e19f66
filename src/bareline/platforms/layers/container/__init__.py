"""The former place of `bareline.platforms.hosts.layers.container`."""
