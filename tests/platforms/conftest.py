"""Platforms that can be used here, and the programs that are run on them."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bareline.cache import cache_folder
from bareline.errors import PlatformError
from bareline.model import TRIAL_VARIABLE, Command, Layout, Output
from bareline.platforms.base import Allocation, Context, PlatformSpec, load_platform_types
from bareline.platforms.launcher import find_mpi
from bareline.platforms.netns import namespaces
from bareline.platforms.netns import platform as netns_platform

SOURCE = Path(__file__).with_name("rank_program.c")


@dataclass
class Bench:
    """An allocation in use, and short ways to ask things of it."""

    allocation: Allocation
    options: Any
    rank_program: str | None = None
    token: str = field(default_factory=lambda: f"{uuid.uuid4().hex}-1")

    @property
    def nodes(self) -> int:
        return self.options.node_count

    @property
    def two_ranks(self) -> Layout:
        """Two ranks on separate nodes where there are two."""
        return Layout(2, 1, 1) if self.nodes > 1 else Layout(1, 2, 1)

    def run(
        self, *argv: str, layout: Layout | None = None, timeout_s: float = 60, **more
    ) -> Output:
        env = (*more.pop("env", ()), (TRIAL_VARIABLE, self.token))
        command = Command(argv=argv, env=env, **more)
        return self.allocation.run(command, layout or Layout(), timeout_s=timeout_s)

    def shell(self, script: str, **more) -> Output:
        return self.run("sh", "-c", script, **more)

    def ranks(self, *arguments: str, **more) -> Output:
        """Run the tiny MPI program."""
        assert self.rank_program is not None
        layout = more.pop("layout", self.two_ranks)
        return self.run(self.rank_program, *arguments, mpi=True, layout=layout, **more)


@pytest.fixture(scope="session")
def rank_program(tmp_path_factory) -> Callable[[str], str]:
    """Compile the tiny MPI program for a flavour, once, or skip the test."""
    built: dict[str, str] = {}

    def build(flavour: str) -> str:
        if flavour not in built:
            try:
                mpi = find_mpi(flavour)
            except PlatformError as error:
                pytest.skip(str(error))
            if mpi.mpicc is None:
                pytest.skip(f"{mpi.title} has no compiler wrapper here")
            program = tmp_path_factory.mktemp(flavour) / "rank_program"
            subprocess.run([mpi.mpicc, "-O1", "-o", program, SOURCE], check=True)
            # The unprivileged user of one test runs it too.
            for folder in (program.parent, program.parent.parent):
                folder.chmod(0o755)
            built[flavour] = str(program)
        return built[flavour]

    return build


@pytest.fixture
def acquire(tmp_path, monkeypatch) -> Callable[..., AbstractContextManager[Allocation]]:
    """Acquire a platform: ``acquire("netns", privilege=..., hosts=4)``."""

    @contextmanager
    def make(
        kind: str, *, layout: Layout | None = None, privilege: str | None = None, **options
    ) -> Iterator[Allocation]:
        if privilege is not None:
            wanted = namespaces.Privilege(privilege)
            _need(wanted)
            monkeypatch.setattr(netns_platform, "find_privilege", lambda: wanted)
        platform = load_platform_types()[kind]
        spec = PlatformSpec(kind, kind, platform.options(**options))
        scratch = tmp_path / f"scratch-{uuid.uuid4().hex[:8]}"
        scratch.mkdir()
        context = Context(scratch, cache_folder())
        wanted_layout = layout or Layout(spec.options.node_count)
        with platform(spec, context).acquire(wanted_layout) as allocation:
            yield allocation

    return make


def _need(privilege: namespaces.Privilege) -> None:
    """Skip where namespaces cannot be made in that way."""
    if privilege is namespaces.Privilege.ROOT and os.geteuid() != 0:
        pytest.skip("needs root")
    try:
        reason = namespaces.obstacle(privilege)
    except PlatformError as error:
        reason = str(error)
    if reason:
        pytest.skip(f"no namespaces as {privilege.value}: {reason}")


@pytest.fixture
def open_bench(acquire, rank_program) -> Iterator[Callable[..., Bench]]:
    """Acquire a platform until the end of the test, as a `Bench`."""
    with ExitStack() as stack:

        def make(kind: str, **options) -> Bench:
            allocation = stack.enter_context(acquire(kind, **options))
            flavour = options.get("mpi")
            program = rank_program(flavour) if flavour else None
            options.pop("privilege", None)
            return Bench(allocation, load_platform_types()[kind].options(**options), program)

        yield make
