"""Applications: bareline's mini-apps, real applications, and programs of users."""
