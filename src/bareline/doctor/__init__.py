"""``bareline doctor``: what works here, what does not, why, and the command that mends it."""

from bareline.doctor.check import Area, Health, HostCheck, examine
from bareline.doctor.render import render, render_purposes, summary, to_rows

__all__ = [
    "Area",
    "Health",
    "HostCheck",
    "examine",
    "render",
    "render_purposes",
    "summary",
    "to_rows",
]
