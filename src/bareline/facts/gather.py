"""Collect the facts of a platform's nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from bareline.facts.network import parse_network
from bareline.facts.processor import parse_memory, parse_processor
from bareline.facts.sections import Facts, split_sections
from bareline.facts.storage import parse_storage
from bareline.facts.system import parse_software, parse_system
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.facts import Kind, describe, key_of_nodes, same_value
from bareline.vocabulary.model import Scalar

_PARSERS = (
    parse_processor,
    parse_memory,
    parse_system,
    parse_network,
    parse_software,
    parse_storage,
)
#: A node of a thousand cores prints less than a tenth of it.
_MOST_CHARACTERS = 16 << 20


@cache
def script() -> str:
    """Return the POSIX shell script that a node runs."""
    return Path(__file__).with_name("collect.sh").read_text(encoding="utf-8")


def gather(answers: Iterable[tuple[str, str, str]]) -> Facts:
    """Collect the facts of every node into one flat table; an unknown fact has no key.

    - `answers`: for each node: its name, the script's output, and the script's error output.

    Raises PlatformError: a node does not answer.
    """
    nodes = []
    for name, printed, complaints in answers:
        if len(printed) > _MOST_CHARACTERS:
            raise PlatformError(
                f"the node returns {len(printed):,} characters of facts, more than "
                f"{_MOST_CHARACTERS:,}",
                where=name,
            )
        facts = parse_node(printed)
        if not facts:
            messages = complaints.strip().splitlines() or ["no output"]
            raise PlatformError(
                f"the node does not report its facts: {messages[-1]}",
                where=name,
                hint="check that `sh` runs there",
            )
        nodes.append(facts)
    return merge_nodes(nodes)


def parse_node(raw: str) -> Facts:
    """Read the script's output on one node; empty if the output contains no facts."""
    sections = split_sections(raw)
    facts: Facts = {}
    for parse in _PARSERS:
        facts |= parse(sections)
    if facts and "end" not in sections:
        facts["node.incomplete"] = True
    return facts


def merge_nodes(nodes: Sequence[Facts]) -> Facts:
    """Join the facts of a platform's nodes.

    A key has the value of node 0. If, for example, nodes 1 to 3 and 7 have a different value,
    this value has the key ``node[1-3,7].key``. If these nodes lack keys, ``node[1-3,7].missing``
    lists the missing keys.
    ``node.heterogeneous`` shows whether nodes differ in a fact that is neither a name nor a
    counter.
    """
    if not nodes:
        return {}
    first = nodes[0]
    merged: Facts = dict(first)
    differing = False
    alike: dict[tuple[str, Scalar], list[int]] = {}
    for index, facts in enumerate(nodes[1:], start=1):
        lacking = [key for key in first if key not in facts]
        unlike = {key: facts[key] for key in facts if not same_value(first.get(key), facts[key])}
        differing |= any(map(_is_characteristic, (*unlike, *lacking)))
        if lacking:
            unlike["missing"] = ", ".join(lacking)
        for pair in unlike.items():
            alike.setdefault(pair, []).append(index)
    for (key, value), sharing in alike.items():
        merged[key_of_nodes(sharing, key)] = value
    merged["node.count"] = len(nodes)
    merged["node.heterogeneous"] = differing
    return merged


def _is_characteristic(key: str) -> bool:
    return describe(key).kind is Kind.CHARACTERISTIC
