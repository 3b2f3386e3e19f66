"""What every platform must do, on nodes of a Slurm cluster of real daemons."""

from __future__ import annotations

import pytest

from bareline.testing.bench import keeping
from bareline.testing.platforms import MpiContract, PlatformContract

pytestmark = [pytest.mark.netns, pytest.mark.slurm]
OPTIONS = {"subnet": "10.94.0.0/24", "time_min": 10}


@pytest.fixture(scope="module")
def kept(slurm_cluster, tmp_path_factory):
    with keeping(tmp_path_factory.mktemp("kept")) as those:
        yield those


@pytest.fixture
def bench(kept):
    return kept.bench("slurm", mpi="openmpi", launcher="srun", **OPTIONS)


@pytest.fixture(params=["srun", "mpirun"])
def mpi_bench(request, kept, rank_program):
    program = rank_program("openmpi")
    return kept.bench("slurm", program, mpi="openmpi", launcher=request.param, **OPTIONS)


class TestSlurm(PlatformContract):
    """Programs."""


@pytest.mark.mpi
class TestSlurmMpi(MpiContract):
    """MPI jobs."""
