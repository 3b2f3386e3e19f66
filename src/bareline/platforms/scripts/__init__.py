"""Scripts that run on nodes, the files without an ending, and what they and bareline say."""
