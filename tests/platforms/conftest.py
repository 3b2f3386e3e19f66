"""Platforms that can be used here, and the programs that are run on them."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from bareline.host.cache import cache_folder
from bareline.platforms.base import Allocation, Context, PlatformSpec, load_platform_types
from bareline.platforms.launchers import find_mpi
from bareline.platforms.netns import namespaces
from bareline.platforms.netns import platform as netns_platform
from bareline.testing.bench import Bench
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Layout

SOURCE = Path(__file__).with_name("rank_program.c")


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
