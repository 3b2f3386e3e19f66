"""The smallest pieces that every chart is put together from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from bareline.report.figures.grammar import Blank, alt
from bareline.vocabulary.texts import cleaned_all

Channel = TypeVar("Channel", alt.Fill, alt.Stroke, alt.Shape)


def inline(rows: Sequence[Mapping[str, Any]]) -> alt.InlineData:
    """Hand rows to a chart as one text, which it neither copies nor checks value by value.

    Cleaned here: in that text a control character is an escape sequence, which nobody sees.
    """
    if isinstance(alt, Blank):
        return alt.InlineData()
    text = json.dumps(cleaned_all(list(rows)))
    return alt.InlineData(values=text, format=alt.JsonDataFormat(type="json"))


def raw(channel: type[Channel], field: str) -> Channel:
    """Take a field's value as the colour or shape itself, without scale or legend."""
    return channel(field=field, type="nominal", scale=None, legend=None)


def tip() -> alt.Description:
    """Take the text of the field "tip" as what the page's tooltip says."""
    return alt.Description(field="tip", type="nominal")


def heading(text: str, width_px: float) -> alt.Title:
    """Write what the vertical axis shows above it, where it can be read without turning."""
    return alt.Title(text, fontWeight="normal", fontSize=11.5, limit=width_px, offset=6)
