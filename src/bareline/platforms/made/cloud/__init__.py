"""Instances of a cloud: creation, waiting, repair, and a removal that forgets no instance."""
