"""What to measure, and the plan of trials that follows from it."""
