"""The readable output: the terminal's tables, the page, and the figures."""
