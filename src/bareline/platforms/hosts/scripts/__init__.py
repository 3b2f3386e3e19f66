"""Scripts that run on nodes (the files without suffix), and their protocol with bareline."""
