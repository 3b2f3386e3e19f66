"""Platforms that can be used here, and the programs that are run on them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import bareline
from bareline.host.cache import cache_folder
from bareline.platforms.base import (
    Allocation,
    Context,
    availability_of,
    load_platform_types,
)
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.platforms.localhost.netns import namespaces
from bareline.platforms.localhost.netns import platform as netns_platform
from bareline.testing.bench import Bench, OpenBenches, keeping
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


def _skip_unavailable(kind: str, options: dict[str, Any]) -> None:
    """Skip where a platform lacks something on this machine, such as a program."""
    platform = load_platform_types()[kind]
    available = availability_of(PlatformSpec(kind, kind, platform.options(**options)))
    if not available.ok:
        pytest.skip(available.reason)


@cache
def _obstacle(privilege: namespaces.Privilege) -> str:
    """Describe what keeps namespaces from being made in that way; tried once."""
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
        kept: dict[str | None, OpenBenches] = {}

        def give(
            kind: str, program: str | None = None, privilege: str | None = None, **options
        ) -> Bench:
            if privilege not in kept:
                folder = tmp_path_factory.mktemp("kept")
                kept[privilege] = stack.enter_context(keeping(folder))
            with _privileged(privilege):
                _skip_unavailable(kind, options)
                return kept[privilege].bench(kind, program, **options)

        yield give


#: Mounts each folder in the place that follows it, until --, and becomes the rest of its words.
_ELSEWHERE = """
while [ "$1" != -- ]; do mount --bind "$1" "$2" && shift 2 || exit; done
shift
exec "$@"
"""


@pytest.fixture
def ordinary_user() -> list[str]:
    """Return the words before a command that run it as a user without any rights."""
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return [*user, "env", "PATH=/usr/bin:/bin", "HOME=/nonexistent"]


@pytest.fixture
def run_as() -> Iterator[Callable[[list[str], str], list[str]]]:
    """Run a script of Python behind some words; root's alone, and skips without mounts.

    Python, bareline and its packages may lie where only root can read, such as root's home: the
    script sees them in another place. It finds in its arguments where packages are.
    """
    with tempfile.TemporaryDirectory(prefix="bl-packages-") as folder:
        Path(folder).chmod(0o755)

        def run(prefix: list[str], script: str) -> list[str]:
            packages = [path for path in sys.path if "site-" in path]
            folders = [sys.base_prefix, str(Path(bareline.__file__).parents[1]), *packages]
            places = [Path(folder, str(number)) for number in range(len(folders))]
            mounts: list[str] = []
            for source, place in zip(folders, places, strict=True):
                place.mkdir(exist_ok=True)
                mounts += [source, str(place)]
            version = f"python{sys.version_info.major}.{sys.version_info.minor}"
            elsewhere = ["unshare", "--mount", "sh", "-c", _ELSEWHERE, "sh", *mounts, "--"]
            python = [str(places[0] / "bin" / version), "-B", "-c", script, *map(str, places[1:])]
            tried = subprocess.run([*elsewhere, "true"], capture_output=True, check=False)
            if tried.returncode != 0:
                pytest.skip("no mounts here")
            ended = subprocess.run(
                [*elsewhere, *prefix, *python],
                capture_output=True,
                text=True,
                cwd="/",
                check=False,
            )
            assert ended.returncode == 0, ended.stderr
            return ended.stdout.splitlines()

        yield run


@pytest.fixture(scope="session")
def skeleton(tmp_path_factory) -> dict[str, object]:
    """Make an image whose content is the host's own: empty places, into which folders are bound."""
    root = tmp_path_factory.mktemp("image") / "root"
    bound = [path for path in ("/usr", "/etc/alternatives", "/etc/openmpi") if Path(path).is_dir()]
    own = [str(cache_folder()), *bound, "/dev", "/proc", "/sys", "/tmp", "/var", "/home"]
    for path in own:
        (root / path.lstrip("/")).mkdir(parents=True, exist_ok=True)
    for name in ("passwd", "group", "hosts", "resolv.conf"):
        (root / "etc" / name).touch()
    for name in ("bin", "sbin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")
    return {"image": str(root), "bind": bound}
