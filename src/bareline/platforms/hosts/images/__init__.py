"""Root file systems for guests and containers, out of the host's own package sources."""
