"""Platforms that can be used here, and the programs that are run on them."""

from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from pathlib import Path

import pytest

from bareline.platforms.base import Allocation, Context, load_platform_types
from bareline.platforms.launchers import find_mpi
from bareline.platforms.netns import namespaces
from bareline.platforms.netns import platform as netns_platform
from bareline.testing.bench import Bench, Kept, keeping
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec

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
def acquire(tmp_path) -> Callable[..., AbstractContextManager[Allocation]]:
    """Acquire a platform: ``acquire("netns", privilege=..., hosts=4)``."""

    @contextmanager
    def make(
        kind: str, *, layout: Layout | None = None, privilege: str | None = None, **options
    ) -> Iterator[Allocation]:
        platform = load_platform_types()[kind]
        spec = PlatformSpec(kind, kind, platform.options(**options))
        scratch = tmp_path / f"scratch-{uuid.uuid4().hex[:8]}"
        scratch.mkdir()
        context = Context(scratch)
        wanted_layout = layout or Layout(spec.options.node_count)
        with ExitStack() as stack:
            with _privileged(privilege):
                place = platform(spec, context).acquire(wanted_layout)
                allocation = stack.enter_context(place)
            yield allocation

    return make


@contextmanager
def _privileged(privilege: str | None) -> Iterator[None]:
    """Let namespaces be made in a way, or skip where that cannot be; in any way without one."""
    if privilege is None:
        yield
        return
    wanted = namespaces.Privilege(privilege)
    if wanted is namespaces.Privilege.ROOT and os.geteuid() != 0:
        pytest.skip("needs root")
    reason = _obstacle(wanted)
    if reason:
        pytest.skip(f"no namespaces as {privilege}: {reason}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(netns_platform, "find_privilege", lambda: wanted)
        yield


@cache
def _obstacle(privilege: namespaces.Privilege) -> str:
    """Say what keeps namespaces from being made in that way; tried once."""
    try:
        return namespaces.obstacle(privilege)
    except PlatformError as error:
        return str(error)


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


@pytest.fixture(scope="module")
def keep_bench(tmp_path_factory) -> Iterator[Callable[..., Bench]]:
    """Acquire a platform for the tests of a module: ``keep_bench("netns", rank_program, ...)``."""
    with ExitStack() as stack:
        kept: dict[str | None, Kept] = {}

        def give(
            kind: str, program: str | None = None, privilege: str | None = None, **options
        ) -> Bench:
            if privilege not in kept:
                folder = tmp_path_factory.mktemp("kept")
                kept[privilege] = stack.enter_context(keeping(folder))
            with _privileged(privilege):
                return kept[privilege].bench(kind, program, **options)

        yield give
