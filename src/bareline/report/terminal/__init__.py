"""The blocks that commands print in the terminal."""
