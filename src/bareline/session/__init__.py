"""Execute a study: begin a run, measure and judge its trials, and import existing results."""
