"""Checks that nodes meet bareline's requirements, before any node is reserved."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from bareline.build.sources import source_folder, sources_key
from bareline.platforms.base import NodeLook
from bareline.platforms.hosts.nodes import Nodes
from bareline.platforms.hosts.scripts.description import number_of
from bareline.platforms.hosts.scripts.node_channel import script


def needs_line() -> list[str]:
    """Return the command whose output `read_needs` reads."""
    return ["sh", "-c", script("needs"), "sh", *_arguments()]


def read_needs(text: str, name: str = "") -> NodeLook:
    """Return the equipment of a node from the output of the script ``needs``.

    - `name`: name of the node; by default the name that the node reports.

    Raises PlatformError: the node reports no number of cores.
    """
    answers: dict[str, list[str]] = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        answers.setdefault(word, []).append(rest)
    name = name or answers.get("node", ["the node"])[0]
    return NodeLook(
        name=name,
        cores=number_of(answers.get("cores", [""])[0], name, "cores"),
        has_python="python" in answers,
        lacking=tuple(answers.get("lacks", ())),
        has_build="built" in answers,
    )


def look_at(nodes: Nodes) -> tuple[NodeLook, ...]:
    """Return the equipment of every node of an allocation."""
    answers = nodes.on_every_node(script("needs"), [_arguments() for _ in nodes.nodes])
    named = zip(nodes.nodes, answers, strict=True)
    return tuple(read_needs(answer.stdout, node.name) for node, answer in named)


def _arguments() -> Sequence[str]:
    return [sys.executable, sources_key(source_folder())]
