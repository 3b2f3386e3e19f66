"""All that analysis says in English."""
