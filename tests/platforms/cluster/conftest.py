"""Clusters of real daemons, and the platforms that use them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bareline.platforms.base import PlatformSpec, load_platform_types
from bareline.platforms.netns import namespaces
from bareline.vocabulary.errors import PlatformError

sys.path.insert(0, str(Path(__file__).parent))

from machines import Machines, SlurmCluster, ssh_hosts
from machines import slurm_cluster as make_slurm


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
    """Two hosts with sshd, for the tests of a module."""
    need_namespaces()
    if shutil.which("sshd", path="/usr/sbin") is None:
        pytest.skip("sshd is not installed")
    with ExitStack() as stack:
        yield stack.enter_context(ssh_hosts(2))


@pytest.fixture(scope="module")
def slurm_cluster() -> Iterator[SlurmCluster]:
    """Four nodes of a Slurm cluster, for the tests of a module."""
    need_namespaces()
    for program in ("slurmctld", "slurmd", "munged", "salloc"):
        if shutil.which(program, path="/usr/sbin:/usr/bin") is None:
            pytest.skip(f"{program} is not installed")
    with ExitStack() as stack:
        yield stack.enter_context(make_slurm(4))


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
