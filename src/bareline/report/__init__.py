"""What people read: the terminal's tables, the page, and the figures."""
