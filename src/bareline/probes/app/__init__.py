"""Applications: bareline's mini-apps, and programs of users."""
