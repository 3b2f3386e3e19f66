"""Ranks that srun starts, in containers. Other allocations of this cluster must be over by then."""

from __future__ import annotations

import json
import shutil

import pytest

from bareline.testing.bench import keeping
from bareline.vocabulary.model import Layout

pytestmark = [pytest.mark.netns, pytest.mark.slurm, pytest.mark.mpi]


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("share", ["rank", "node"])
def test_ranks_that_srun_starts_are_in_containers(share, slurm_cluster, tmp_path, rank_program):
    box = {"runtime": "bwrap", "image": "host", "share": share}
    options = {"mpi": "openmpi", "launcher": "srun", "subnet": "10.94.0.0/24", "time_min": 10}
    with keeping(tmp_path) as kept:
        bench = kept.bench("slurm", rank_program("openmpi"), container=box, **options)
        done = bench.ranks(layout=Layout(2, 2, 1))
        assert done.exit_code == 0, done.stderr
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert len({line["host"] for line in lines}) == 2 and len(lines) == 4
        assert bench.allocation.facts()["container.userns"] == f"per-{share}"
