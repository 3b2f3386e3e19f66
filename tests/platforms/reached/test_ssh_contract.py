"""What every platform must do, over ssh to two hosts with real daemons."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from bareline.testing.bench import keeping
from bareline.testing.messages import raises
from bareline.testing.platforms import MpiContract, PlatformContract
from bareline.vocabulary.errors import ToolMissing
from bareline.vocabulary.model import Layout

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


@pytest.mark.mpi
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
@pytest.mark.parametrize("share", ["rank", "node"])
def test_ranks_of_two_hosts_are_in_containers(share, ssh_options, kept, rank_program):
    box = {"runtime": "bwrap", "image": "host", "share": share}
    bench = kept.bench("ssh", rank_program("openmpi"), mpi="openmpi", container=box, **ssh_options)
    done = bench.ranks(layout=Layout(2, 2, 1))
    assert done.exit_code == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(line["rank"] for line in lines) == [0, 1, 2, 3]
    assert len({line["host"] for line in lines}) == 2
    look = [bench.run("readlink", "/proc/self/ns/user", node=node).stdout for node in (0, 1)]
    assert str(Path("/proc/self/ns/user").readlink()) not in "".join(look)
    assert bench.allocation.facts()["container.userns"] == f"per-{share}"
    with raises(ToolMissing, "BL-HOST-246", "no-such-program"):
        bench.run("true", requires=("no-such-program",))
