"""Judge rows: grades, findings, causes, claims and conditions, without the sentences on them."""
