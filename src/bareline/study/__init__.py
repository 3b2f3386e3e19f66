"""Studies: the cases to measure, and the plan of trials that follows from them."""
