"""Platforms of nodes that bareline creates and removes: virtual machines here and in clouds."""
