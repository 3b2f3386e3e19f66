"""What every platform must do, over ssh to two hosts with real daemons."""

from __future__ import annotations

import pytest

from bareline.testing.platforms import MpiContract, PlatformContract

pytestmark = pytest.mark.netns


@pytest.fixture
def bench(ssh_options, open_bench):
    return open_bench("ssh", **ssh_options)


@pytest.fixture(params=["openmpi", "mpich", "openmpi-here"])
def mpi_bench(request, ssh_options, open_bench):
    flavour, _, here = request.param.partition("-")
    more = {"launcher": "here"} if here else {}
    return open_bench("ssh", mpi=flavour, **ssh_options, **more)


class TestSsh(PlatformContract):
    """Programs."""


@pytest.mark.mpi
class TestSshMpi(MpiContract):
    """MPI jobs."""
