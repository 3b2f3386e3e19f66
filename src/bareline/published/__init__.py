"""The figures that the five publications printed, and how they relate to what bareline measures."""
