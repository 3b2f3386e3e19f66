"""What a report shows, said once: tables, prose, notes and figures, for every writer alike."""
