"""Studies: the measures to make, and the plan of trials that follows from them."""
