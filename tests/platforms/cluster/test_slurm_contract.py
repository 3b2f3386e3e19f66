"""What every platform must do, on nodes of a Slurm cluster of real daemons."""

from __future__ import annotations

import pytest

from bareline.testing.platforms import MpiContract, PlatformContract

pytestmark = [pytest.mark.netns, pytest.mark.slurm]
OPTIONS = {"subnet": "10.94.0.0/24", "time_min": 10}


@pytest.fixture
def bench(slurm_cluster, open_bench):
    return open_bench("slurm", **OPTIONS)


@pytest.fixture(params=["srun", "mpirun"])
def mpi_bench(request, slurm_cluster, open_bench):
    return open_bench("slurm", mpi="openmpi", launcher=request.param, **OPTIONS)


class TestSlurm(PlatformContract):
    """Programs."""


@pytest.mark.mpi
class TestSlurmMpi(MpiContract):
    """MPI jobs."""
