"""Tables that are written column by column: a head, and its field of every row."""

from __future__ import annotations

from bareline.report.blocks.table import Rows

__all__ = ["Rows"]
