"""Collect the facts of a platform's nodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

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
#: A node of a thousand cores tells less than a tenth of it.
_MOST_CHARACTERS = 16 << 20


class Host(Protocol):
    """A node of a platform."""

    @property
    def name(self) -> str:
        """Host name."""

    @property
    def address(self) -> str:
        """Address under which the other nodes reach it."""


class Answer(Protocol):
    """What a script on a node said."""

    @property
    def stdout(self) -> str:
        """Its output."""

    @property
    def stderr(self) -> str:
        """Its complaints."""


class FactSource(Protocol):
    """What facts ask of an allocation; `bareline.platforms.hosts.HostsAllocation` fits."""

    @property
    def nodes(self) -> Sequence[Host]:
        """Every node."""

    def work_folder(self) -> str:
        """Give the folder in which trials work."""

    def on_every_node(self, text: str, arguments: Sequence[Sequence[str]]) -> Sequence[Answer]:
        """Run a shell script on every node, each with arguments of its own."""


@cache
def script() -> str:
    """Give the POSIX shell script that a node runs."""
    return Path(__file__).with_name("collect.sh").read_text(encoding="utf-8")


def gather(allocation: FactSource) -> Facts:
    """Collect the facts of every node of an allocation into one flat table.

    What a node lacks (a program, a kernel file, a permission) is an absent key. A platform adds
    or corrects what it alone knows, such as the MPI library it launches with.

    Raises PlatformError: a node does not answer.
    """
    folder = allocation.work_folder()
    arguments = [(node.address, folder) for node in allocation.nodes]
    answers = allocation.on_every_node(script(), arguments)
    nodes = []
    for node, done in zip(allocation.nodes, answers, strict=True):
        if len(done.stdout) > _MOST_CHARACTERS:
            raise PlatformError(
                f"the node returns {len(done.stdout):,} characters of facts", where=node.name
            )
        facts = parse_node(done.stdout)
        if not facts:
            said = done.stderr.strip().splitlines()
            raise PlatformError(
                f"the node does not report its facts: {said[-1] if said else 'no output'}",
                where=node.name,
                hint="check that `sh` runs there",
            )
        nodes.append(facts)
    return merge_nodes(nodes)


def parse_node(raw: str) -> Facts:
    """Read what the script printed on one node; empty if it printed nothing of use."""
    sections = split_sections(raw)
    facts = {key: value for parse in _PARSERS for key, value in parse(sections).items()}
    if facts and "end" not in sections:
        facts["node.incomplete"] = True
    return facts


def merge_nodes(nodes: Sequence[Facts]) -> Facts:
    """Join the facts of a platform's nodes.

    A key is node 0's. Where others differ, ``node[1-3,7].key`` gives the value of those that share
    it, and ``node[1-3,7].missing`` lists the keys that they lack. ``node.heterogeneous`` tells
    whether a characteristic (not a name, not a counter) differs.
    """
    if not nodes:
        return {}
    first = nodes[0]
    merged: Facts = dict(first)
    differing = False
    alike: dict[tuple[str, Scalar], list[int]] = {}
    for index, facts in enumerate(nodes[1:], start=1):
        own = {key: value for key, value in facts.items() if not same_value(first.get(key), value)}
        lacking = [key for key in first if key not in facts]
        differing |= any(describe(key).kind is Kind.CHARACTERISTIC for key in (*own, *lacking))
        if lacking:
            own["missing"] = ", ".join(lacking)
        for pair in own.items():
            alike.setdefault(pair, []).append(index)
    for (key, value), sharing in alike.items():
        merged[key_of_nodes(sharing, key)] = value
    merged["node.count"] = len(nodes)
    merged["node.heterogeneous"] = differing
    return merged
