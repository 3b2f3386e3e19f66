"""What every platform must do, over ssh to two hosts with real daemons."""

from __future__ import annotations

import pytest

from bareline.testing.bench import keeping
from bareline.testing.platforms import MpiContract, PlatformContract

pytestmark = pytest.mark.netns


@pytest.fixture(scope="module")
def kept(ssh_cluster, tmp_path_factory):
    with keeping(tmp_path_factory.mktemp("kept")) as those:
        yield those


@pytest.fixture
def bench(ssh_options, kept):
    return kept.bench("ssh", **ssh_options)


@pytest.fixture(params=["openmpi", "mpich", "openmpi-here"])
def mpi_bench(request, ssh_options, kept, rank_program):
    flavour, _, here = request.param.partition("-")
    more = {"launcher": "here"} if here else {}
    return kept.bench("ssh", rank_program(flavour), mpi=flavour, **ssh_options, **more)


class TestSsh(PlatformContract):
    """Programs."""


@pytest.mark.mpi
class TestSshMpi(MpiContract):
    """MPI jobs."""
