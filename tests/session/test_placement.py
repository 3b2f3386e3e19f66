"""What was asked of a launcher and what was seen: placement, transport, library."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from bareline.platforms.base import load_platform_types
from bareline.probes._place import Rank, Seen
from bareline.session.placement import look, placed, shown
from bareline.store.run import Run
from bareline.testing.bench import open_bench
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PinningKeys


def rank(cpus, node=0, sockets=2):
    """Give a rank on a node of two sockets with four cores of two hardware threads each."""
    cpus = frozenset(cpus)
    return Rank(
        node=node,
        cpus=cpus,
        packages=frozenset(cpu // 8 for cpu in cpus),
        numa=frozenset(cpu // 8 for cpu in cpus),
        cores=len({cpu // 2 for cpu in cpus}),
        machine_packages=sockets,
        machine_numa=sockets,
    )


EVERY, FIRST, SECOND = range(16), range(8), range(8, 16)


@pytest.mark.parametrize(
    ("asked", "cpus", "seen"),
    [
        ({}, [EVERY, EVERY], "binding=none"),
        ({}, [(0, 1), (2, 3)], "binding=core"),
        ({}, [FIRST, SECOND], "binding=numa"),
        ({}, [(0,), (0,)], "binding=shared"),
        ({"binding": "core"}, [(0, 1), (2, 3)], "binding=core"),
        ({"binding": "core"}, [EVERY, EVERY], "binding=none"),
        ({"binding": "core"}, [(0, 1), (0, 1)], "binding=shared"),
        ({"binding": "core"}, [(0,), (1,)], "binding=core"),
        ({"binding": "core"}, [(0, 1, 2), (4, 5, 6)], "binding=numa"),
        ({"binding": "hwthread"}, [(0,), (1,)], "binding=hwthread"),
        ({"binding": "hwthread"}, [(0, 1), (2, 3)], "binding=core"),
        ({"binding": "socket"}, [FIRST, FIRST], "binding=socket"),
        ({"binding": "socket"}, [EVERY, EVERY], "binding=none"),
        ({"ranks_per_socket": 1}, [FIRST, SECOND], "binding=socket ranks_per_socket=1"),
        ({"ranks_per_socket": 1}, [FIRST, FIRST], "binding=numa"),
        (
            {"binding": "core", "distribution": "cyclic"},
            [(0, 1), (8, 9)],
            "binding=core distribution=cyclic",
        ),
        ({"binding": "core", "distribution": "cyclic"}, [(0, 1), (2, 3)], "binding=core"),
    ],
)
def test_what_was_seen_is_what_counts(asked, cpus, seen):
    layout = Layout(1, len(cpus), 1, PinningKeys(**asked).pinning)
    assert str(placed([rank(each) for each in cpus], layout, 16)) == seen


def test_the_same_core_of_two_nodes_is_not_shared():
    layout = Layout(2, 1, 1, PinningKeys(binding="core").pinning)
    assert placed([rank((0, 1)), rank((0, 1), node=1)], layout, 16) == layout.pinning


def test_both_are_said_where_they_differ():
    layout = Layout(2, 1, 1, PinningKeys(binding="core").pinning)
    ranks = (rank(EVERY), rank(EVERY, node=1))
    seen = Seen(1, "Open MPI 4.1.4", "Open MPI 4.1.6", ranks, ("BTL tcp", "BTL vader"))
    told = shown(seen, layout, {"cpu.allowed": 16, "mpi.transport": "shm"})
    assert told.caveats == (
        "ranks placed otherwise: asked bound to cores, seen not bound",
        "MPI talks otherwise: asked shm, seen BTL tcp, BTL vader",
        "another MPI library: built with Open MPI 4.1.4, ran with Open MPI 4.1.6",
    )
    assert all(
        Caveat.read(text).next_step and str(Caveat.read(text)) == text for text in told.caveats
    )
    assert str(told.layout) == "2x1x1"
    assert told.facts["mpi.carrier.between_nodes"] == "BTL tcp, BTL vader"
    assert told.facts["placement.2x1x1 binding=core"] == "8 cores a rank, 2 of 2 sockets in use"


_STUDY = """
[study]
name = "asked"
launches = 1
[[measure]]
probe = "mpi.pingpong"
ranks = 2
params = { max_bytes = 8, iterations = 10 }
"""


def installed(flavour):
    return pytest.mark.skipif(
        shutil.which(f"mpirun.{flavour}") is None, reason=f"{flavour} is not installed"
    )


@pytest.mark.mpi
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
@pytest.mark.parametrize(
    ("options", "layout", "carrier"),
    [
        # Shared memory, which is called sm since version 5.
        pytest.param({"mpi": "openmpi"}, "1x2x1", "BTL (vader|sm)", marks=installed("openmpi")),
        pytest.param(
            {"mpi": "openmpi", "binding": "core", "transport": "tcp"},
            "1x2x1 binding=core",
            "BTL tcp",
            marks=installed("openmpi"),
        ),
        pytest.param(
            {"mpi": "mpich", "cores": (min(os.sched_getaffinity(0)),)},
            "1x2x1 binding=shared",
            "UCX",
            marks=installed("mpich"),
        ),
    ],
)
def test_ranks_are_seen_where_they_are(tmp_path, options, layout, carrier):
    known = {"cpu.allowed": len(os.sched_getaffinity(0))}
    command = Command(argv=("{native}/mpibench",), mpi=True)
    with open_bench(load_platform_types()["local"], tmp_path, **options) as bench:
        seen = look(bench.allocation, bench.two_ranks, known, command)
    assert str(seen.layout) == layout
    assert bool(seen.caveats) == ("shared" in layout)
    assert re.search(carrier, seen.facts["mpi.carrier.within_node"])


@pytest.mark.mpi
@installed("openmpi")
def test_a_run_keeps_what_was_seen(tmp_path):
    (tmp_path / "asked.toml").write_text(_STUDY)
    (tmp_path / "platforms.toml").write_text(
        '[platform.bound]\ntype = "local"\nbinding = "core"\nmpi = "openmpi"\n'
    )
    argv = [sys.executable, "-m", "bareline", "run", "asked.toml", "--out", "run", "--on", "bound"]
    subprocess.run(argv, cwd=tmp_path, check=True, capture_output=True)
    run = Run.open(tmp_path / "run")
    (record,) = run.records()
    assert str(record.trial.layout) == "1x2x1 binding=core"
    assert run.facts()["bound"]["placement.1x2x1 binding=core"].startswith("1 core a rank")
