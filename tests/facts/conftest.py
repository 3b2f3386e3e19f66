"""What the tests of facts share: captured nodes, and this machine as nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.platforms.hosts.launchers.job import Node
from bareline.vocabulary.model import Layout, Scalar

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def capture() -> Callable[[str], str]:
    """Return what reads a captured node's output."""
    return lambda name: (DATA / f"{name}.out").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def expect() -> Callable[..., None]:
    """Return what compares facts, whose dots are written as two underscores."""

    def compare(facts: Mapping[str, object], **expected: object) -> None:
        assert {key: facts.get(key.replace("__", ".")) for key in expected} == expected

    return compare


class Here(HostsAllocation):
    """This machine as one or more nodes; each runs commands behind a prefix of its own."""

    def __init__(self, *prefixes: Sequence[str], address: str = "127.0.0.1") -> None:
        super().__init__([Node(f"n{i}", address, 1) for i in range(len(prefixes))])
        self._prefixes = prefixes

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        return [*self._prefixes[node], *argv]

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        raise NotImplementedError

    def native_folder(self) -> str:
        raise NotImplementedError

    def facts(self) -> Mapping[str, Scalar]:
        return self.node_facts()

    def work_folder(self) -> str:
        return "/tmp/not-made-yet/run"


@pytest.fixture(scope="session")
def hosts() -> Callable[..., HostsAllocation]:
    """Return what makes this machine a set of nodes."""
    return Here
