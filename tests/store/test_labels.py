"""Labels tell paths apart by the part in which they differ."""

from pathlib import Path

import pytest

from bareline.store.labels import path_labels


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["nights/n1", "nights/n8"], ("n1", "n8")),
        (["old/run", "new/run"], ("old", "new")),
        (["a/x/run", "b/x/run"], ("a", "b")),
        (["old/osu.txt", "new/osu.txt"], ("old", "new")),
        (["a/x", "a/y", "b/x"], ("a-x", "a-y", "b-x")),
        (["r", "r"], ("r", "r-2")),
        (["only"], ("only",)),
        (["a b/run", "c:d/run"], ("a-b", "c-d")),
    ],
)
def test_labels_differ_and_are_names_of_platforms(tmp_path, paths, labels):
    assert path_labels([tmp_path / path for path in paths]) == labels


def test_the_root_and_no_path_have_labels():
    assert path_labels([]) == ()
    assert path_labels([Path("/")]) == ("unnamed",)
