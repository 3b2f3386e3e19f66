"""Judge rows: grades, findings, causes, claims and conditions, but no sentences."""
