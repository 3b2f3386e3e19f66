"""Clusters of real daemons, and the platforms that use them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest

from bareline.platforms.base import load_platform_types
from bareline.platforms.localhost.netns import namespaces
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.platform import PlatformSpec

sys.path.insert(0, str(Path(__file__).parent))

from machines import Machines, SlurmCluster, ssh_hosts
from machines import slurm_cluster as make_slurm

T = TypeVar("T")


class Shared:
    """Clusters that are up, for all modules of this folder: bringing one up takes seconds."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._made: dict[str, Any] = {}

    def get(self, name: str, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return a cluster, made by the first who asks."""
        if name not in self._made:
            self._made[name] = self._stack.enter_context(make())
        made: T = self._made[name]
        return made

    def close(self) -> None:
        """Take all of them down; idempotent."""
        self._made.clear()
        self._stack.close()


_SHARED = Shared()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, Any, Any]:
    """Take the clusters down after the last test of this folder."""
    try:
        return (yield)
    finally:
        if nextitem is None or Path(__file__).parent not in nextitem.path.parents:
            _SHARED.close()


def need_namespaces() -> None:
    """Skip where no hosts can be made."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    try:
        reason = namespaces.obstacle(namespaces.Privilege.ROOT)
    except PlatformError as error:
        reason = str(error)
    if reason:
        pytest.skip(f"no namespaces: {reason}")


@pytest.fixture(scope="module")
def ssh_cluster() -> Iterator[tuple[Machines, Path]]:
    """Let the tests of a module work among two hosts with sshd."""
    need_namespaces()
    if shutil.which("sshd", path="/usr/sbin") is None:
        pytest.skip("sshd is not installed")
    machines, config = _SHARED.get("ssh", lambda: ssh_hosts(2))
    with machines.inside():
        yield machines, config


@pytest.fixture(scope="module")
def slurm_cluster() -> Iterator[SlurmCluster]:
    """Let the tests of a module work with the four nodes of a Slurm cluster."""
    need_namespaces()
    for program in ("slurmctld", "slurmd", "munged", "salloc"):
        if shutil.which(program, path="/usr/sbin:/usr/bin") is None:
            pytest.skip(f"{program} is not installed")
    cluster = _SHARED.get("slurm", lambda: make_slurm(4))
    with cluster.inside():
        cluster.wait_idle()
        yield cluster


@pytest.fixture(scope="module")
def ssh_options(ssh_cluster):
    _, config = ssh_cluster
    return {
        "hosts": ("node[1-2]",),
        "config": config,
        "agent": f"ssh -F {config}",
        "subnet": "10.94.0.0/24",
        "connect_s": 5,
    }


@pytest.fixture
def make_spec() -> Callable[..., PlatformSpec]:
    """Describe a platform: ``make_spec("ssh", hosts=...)``."""

    def make(kind: str, **options: object) -> PlatformSpec:
        return PlatformSpec(kind, kind, load_platform_types()[kind].options(**options))

    return make
