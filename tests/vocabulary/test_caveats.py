"""Caveats in words."""

import pytest

from bareline.vocabulary.caveats import Caveat


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("1 trials failed", "1 trial failed"),
        ("2 trials failed", "2 trials failed"),
        (
            "1 launches lost to a time limit count as slower than all",
            "1 launch lost to a time limit counts as slower than all",
        ),
    ],
)
def test_one_is_singular(stored, text):
    assert Caveat.read(stored).text == text
    assert str(Caveat.read(stored)) == stored
