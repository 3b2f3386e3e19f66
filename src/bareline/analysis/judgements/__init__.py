"""The meaning of cells: grades, findings, causes, claims, conditions; no sentence."""
