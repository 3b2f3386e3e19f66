"""Every fact has a label, and the reference lists it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bareline.facts.gather import parse_node
from bareline.vocabulary.facts import FACT_KEYS, FactGroup, describe

CAPTURES = ("kvm-guest", "intel-smt", "minimal-guest")


@pytest.mark.parametrize("name", CAPTURES)
def test_every_fact_has_a_label(name: str, capture: Callable[[str], str]) -> None:
    assert parse_node(capture(name)).keys() <= FACT_KEYS.keys()


def test_the_reference_lists_every_fact() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "facts.md"
    listed = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", page.read_text(encoding="utf-8"), re.M)
    assert listed == [(fact.key, fact.label) for fact in FACT_KEYS.values()]


def test_unknown_facts_are_described_from_their_key() -> None:
    fact = describe("vm.boot_time_s")
    assert (fact.label, fact.group, fact.unit) == ("Boot time", FactGroup.VIRTUALIZATION, "s")
    assert describe("node[2].net.mtu").label == "MTU (node 2)"
    assert describe("node[2-5,7].net.mtu").label == "MTU (nodes 2-5,7)"
    assert describe("planted.factor").group is FactGroup.PLATFORM
    assert describe("environment.OPENBLAS_CORETYPE").label == "Variable OPENBLAS_CORETYPE"
