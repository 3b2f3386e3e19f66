"""Writers of blocks, which depend on the kinds of blocks and not on their content."""
