"""Writers of blocks: they know the kinds of blocks, and nothing of their content."""
