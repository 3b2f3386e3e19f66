"""``bareline doctor``: what works here, what does not, why, and the command that mends it."""

from bareline.doctor.check import Area, Check, Status
from bareline.doctor.examine import examine
from bareline.doctor.render import render, render_purposes, summary, to_rows

__all__ = ["Area", "Check", "Status", "examine", "render", "render_purposes", "summary", "to_rows"]
