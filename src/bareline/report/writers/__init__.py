"""Writers of blocks; they know the kinds of blocks and not their content."""
