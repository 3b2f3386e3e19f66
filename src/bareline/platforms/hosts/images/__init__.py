"""Root file systems for guests and containers, built from the host's own package sources."""
