"""Canonical parameter texts and the values they hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bareline.testing.messages import raises
from bareline.vocabulary.caveats import CAVEATS, Caveat, notes
from bareline.vocabulary.model import Case, Layout, format_point, parse_point

names = st.from_regex(r"[a-z][a-z0-9_]{0,10}", fullmatch=True)
scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
)


@given(st.dictionaries(names, scalars, max_size=5))
def test_a_point_survives_being_written_and_read(point):
    read = parse_point(format_point(point))
    assert read == point
    assert {k: isinstance(v, bool) for k, v in read.items()} == {
        k: isinstance(v, bool) for k, v in point.items()
    }


def test_the_order_of_parameters_does_not_matter():
    assert format_point({"b": 1, "a": "tcp"}) == format_point({"a": "tcp", "b": 1}) == "a=tcp b=1"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a", "BL-VOCABULARY-886"),
        ("a=", None),  # the error is that of the reader of JSON
        ("=1", "BL-VOCABULARY-886"),
        ("a=1,b=2", "BL-VOCABULARY-886"),
        ("a=[1]", "BL-VOCABULARY-885"),
        ("a=1 ", "BL-VOCABULARY-886"),
        ("a=nul l", "BL-VOCABULARY-886"),
    ],
)
def test_damaged_points_are_refused(text, code):
    with raises(ValueError, code):
        parse_point(text)


def test_infinite_parameters_are_refused():
    with raises(ValueError, "BL-VOCABULARY-998"):
        format_point({"a": float("inf")})


def test_a_layout_counts_ranks_and_survives_being_written():
    layout = Layout(2, 3, 4)
    assert layout.ranks == 6
    assert Layout.parse(str(layout)) == layout


def test_every_caveat_says_something_and_unknown_ones_speak_for_themselves():
    assert all(len(text) > 15 for text in CAVEATS.values())
    assert Caveat.read("2 trials failed").text == "2 trials failed"


def test_a_footnote_says_the_share_and_what_to_do_once():
    texts = ("oversubscribed (3 of 8 trials)", "oversubscribed", "profiled")
    few, all_, profiled = map(Caveat.read, texts)
    told = notes([few, all_, few, profiled])
    assert list(told) == [few, all_, profiled]
    assert told[few] == f"{CAVEATS['oversubscribed']} (3 of 8 trials); {few.next_step}"
    assert told[all_] == CAVEATS["oversubscribed"] and told[profiled] == CAVEATS["profiled"]


@pytest.mark.parametrize(("nodes", "words"), [(1, "1 node"), (2, "2 nodes")])
def test_a_case_within_a_node_names_one_node_and_not_nodes(nodes, words):
    assert (
        Case(probe="mpi.pingpong", ranks=2, nodes=nodes).label == f"mpi.pingpong, 2 ranks, {words}"
    )
