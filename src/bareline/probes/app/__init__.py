"""Applications: mini-apps of bareline's own, and programs of others."""
