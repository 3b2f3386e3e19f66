"""The parts that figures and tables are made of: axes, colours, marks, drawings."""
