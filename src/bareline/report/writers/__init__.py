"""Writers of blocks: they know what a block is, and nothing of what it says."""
