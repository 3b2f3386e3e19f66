"""Names of many nodes, folded and unfolded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bareline.testing.messages import raises
from bareline.vocabulary.nodeset import MOST_HOSTS, fold, nodes_text, numbers_text, unfold

NAMES = st.lists(
    st.from_regex(r"(node|r1i|n)[0-9]{0,4}(-ib|\.cluster)?", fullmatch=True), unique=True
)


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        ([f"node{n:03d}" for n in range(1, 129)], "node[001-128]"),
        (["n1", "n2", "n3", "n7", "login"], "n[1-3,7],login"),
        (["n9", "n10", "n011", "n012"], "n[9-10,011-012]"),
        (["n2", "n1"], "n[2,1]"),
        (["a1.x", "a2.x", "a1.y"], "a[1-2].x,a1.y"),
        (["r1i2n3", "r1i2n4", "r1i3n1"], "r1i2n[3-4],r1i3n1"),
        ([], ""),
    ],
)
def test_names_are_folded_in_their_order(names, folded):
    assert fold(names) == folded
    assert names == (unfold(folded) if folded else [])


@given(NAMES)
def test_unfolding_gives_back_what_was_folded(names):
    text = fold(names)
    assert (unfold(text) if text else []) == names


def test_a_thousand_nodes_are_one_word_and_a_scattered_list_is_cut():
    assert nodes_text([f"n{number}" for number in range(1, 1025)]) == "n[1-1024]"
    scattered = [f"{letter}{number}" for letter in "abcdefghijkl" for number in (1, 2)]
    assert nodes_text(scattered, 3) == "a[1-2], b[1-2], c[1-2] and 18 more"
    every_other = range(1, 1024, 2)
    named = [f"n{number}" for number in every_other]
    assert nodes_text(named, 4) == "n[1,3,5,7] and 508 more"
    assert numbers_text(every_other, 4) == "1,3,5,7 and 508 more"
    assert numbers_text([1, 2, 3, 7], 4) == "1-3,7"


@pytest.mark.parametrize("text", ["n[1-", "n[1-9]x[a]", "", "n;rm"])
def test_what_is_no_list_is_refused(text):
    with raises(ValueError, "BL-VOCABULARY-190"):
        unfold(text)


def test_too_many_hosts_are_refused():
    with raises(ValueError, "BL-VOCABULARY-944", f"[1-{MOST_HOSTS + 2}]", str(MOST_HOSTS)):
        unfold(f"n[1-{MOST_HOSTS + 2}]")
