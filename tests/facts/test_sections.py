"""Pieces that the parsers of all sections use."""

from __future__ import annotations

import pytest

from bareline.facts.sections import list_count


@pytest.mark.parametrize(
    ("text", "count"), [("0", 1), ("0-3,8,10-11", 7), ("", None), ("3-1", None), ("0-x", None)]
)
def test_list_count(text: str, count: int | None) -> None:
    assert list_count(text) == count
