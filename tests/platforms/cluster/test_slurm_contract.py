"""What every platform must do, on nodes of a Slurm cluster of real daemons."""

from __future__ import annotations

import json
import shutil

import pytest

from bareline.testing.bench import keeping
from bareline.testing.platforms import MpiContract, PlatformContract
from bareline.vocabulary.model import Layout

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


@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("share", ["rank", "node"])
def test_ranks_that_srun_starts_are_in_containers(share, kept, rank_program):
    box = {"runtime": "bwrap", "image": "host", "share": share}
    options = {"mpi": "openmpi", "launcher": "srun", **OPTIONS}
    bench = kept.bench("slurm", rank_program("openmpi"), container=box, **options)
    done = bench.ranks(layout=Layout(2, 2, 1))
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({line["host"] for line in lines}) == 2 and len(lines) == 4
    assert bench.allocation.facts()["container.userns"] == f"per-{share}"
