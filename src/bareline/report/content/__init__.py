"""What a report shows, gathered and put into words before anything is drawn."""
