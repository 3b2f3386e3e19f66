"""The content of a report, collected and put into words before anything is drawn."""
