"""How figures and tables are made: axes, colours, marks, drawings."""
