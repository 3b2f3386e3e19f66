"""Platforms of nodes that bareline makes and removes: virtual machines here and in clouds."""
