"""A sample of what a package of your own can bring to bareline, one of each kind."""
