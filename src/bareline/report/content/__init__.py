"""The content of a report, gathered and put into words before anything is drawn."""
