"""What cells mean: grades, findings, causes, claims, conditions; no sentence."""
