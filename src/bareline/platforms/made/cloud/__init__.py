"""Instances of a cloud: made, waited for, repaired, given back, and never forgotten."""
