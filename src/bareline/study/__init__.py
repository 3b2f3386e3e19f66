"""Studies: the measures, and the plan of trials that follows from them."""
