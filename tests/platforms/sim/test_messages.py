"""What messages cost: within a node what shared memory costs, at one NIC one after the other."""

import json
import shutil
from contextlib import contextmanager
from itertools import pairwise

import pytest

from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.sim import PLATFORM
from bareline.platforms.sim.network import presets
from bareline.vocabulary.model import Command, Layout

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed"),
]

ON_A_NODE = (
    ("pingpong", 2, "0:4194304"),
    ("sendrecv", 5, "1:1048576"),
    ("exchange", 8, "1:1048576"),
    ("allreduce", 8, "8:1048576"),
    ("bcast", 6, "1:1048576"),
    ("alltoall", 8, "1:65536"),
    ("gather", 4, "1:262144"),
)


@contextmanager
def cluster(folder, **table):
    folder.mkdir(exist_ok=True)
    spec = make_spec("s", {"type": "sim", **table}, where="test")
    with PLATFORM(spec, Context(folder)).acquire(Layout(16)) as allocation:
        yield allocation


def run(allocation, layout, *arguments):
    command = Command(argv=("{native}/mpibench", *arguments), mpi=True)
    output = allocation.run(command, layout, timeout_s=120)
    assert output.exit_code == 0, output.stderr
    return output.stdout


def points(stdout):
    lines = [json.loads(line) for line in stdout.splitlines()]
    assert lines[-1]["end"] is True and not lines[-1]["cut"], stdout[-300:]
    return {row["point"]["size_bytes"]: row for row in lines if "point" in row}


@pytest.mark.parametrize(("function", "ranks", "sizes"), ON_A_NODE)
def test_on_one_node_all_networks_print_the_same(tmp_path, function, ranks, sizes):
    printed = {}
    for name in presets():
        with cluster(tmp_path / name, network=name) as allocation:
            printed[name] = run(allocation, Layout(1, ranks), function, "-m", sizes)
    assert len(set(printed.values())) == 1, printed


@pytest.mark.parametrize("name", list(presets()))
@pytest.mark.parametrize("layout", [Layout(1, 2), Layout(2)], ids=["within", "between"])
@pytest.mark.parametrize("function", ["pingpong", "sendrecv"])
def test_times_do_not_fall_as_sizes_grow(tmp_path, name, layout, function):
    with cluster(tmp_path / "c", network=name) as allocation:
        found = points(run(allocation, layout, function, "-m", "1:4194304", "--between"))
    times = [found[size]["loop_mean"] for size in sorted(found)]
    assert len(times) > 30
    for before, after in pairwise(times):
        assert after >= before * (1 - 1e-9), times


def test_a_larger_latency_changes_what_goes_between_nodes_alone(tmp_path):
    """A job on two nodes: ranks 0 and 1 share one."""
    found = {}
    for name in ("ib-qdr", "10g-vm"):
        with cluster(tmp_path / name, network=name) as allocation:
            near = points(run(allocation, Layout(1, 2), "pingpong", "-m", "8:8"))[8]
            far = points(run(allocation, Layout(2), "pingpong", "-m", "8:8"))[8]
            found[name] = near["loop_mean"], far["loop_mean"]
    assert found["ib-qdr"][0] == found["10g-vm"][0] == pytest.approx(0.4e-6, rel=0.01)
    assert found["10g-vm"][1] > 10 * found["ib-qdr"][1]


@pytest.mark.parametrize("messages_per_s", [None, 0.2e6])
def test_ranks_of_a_node_share_its_nic(tmp_path, messages_per_s):
    """Eight senders, each busy for 2 us with a message: together they want four in that time."""
    table = {
        "curve": [[0, 30e-6], [1 << 20, 1e-3]],
        "send_overhead_s": 2e-6,
        "receive_overhead_s": 1e-6,
    }
    if messages_per_s:
        table["messages_per_s"] = messages_per_s
    with cluster(tmp_path / "c", **table) as allocation:
        of_one, of_eight = (
            points(run(allocation, Layout(2, ranks), "multi_pair", "-m", "8:8"))[8][
                "loop_message_rate"
            ]
            for ranks in (1, 8)
        )
        one_way = points(run(allocation, Layout(2), "pingpong", "-m", "8:8"))[8]["loop_mean"]
    assert one_way == pytest.approx(30e-6, rel=0.01)  # nobody else is at the NIC
    if messages_per_s:
        # A pair's rate counts its own windows; who is served first is done before the last.
        assert of_eight == pytest.approx(messages_per_s, rel=0.2)
    else:
        assert of_eight == pytest.approx(8 * of_one, rel=0.01)


@pytest.mark.parametrize(("name", "printed_us"), [("ib-qdr", 19.1), ("10g-vm", 315.4)])
def test_the_random_ring_takes_what_the_nebula_paper_prints(tmp_path, name, printed_us):
    """Table IV, 240 cores, 12 a node: what the messages a second of a NIC are taken from."""
    with cluster(tmp_path / "c", network=name, nodes=20, cores=12) as allocation:
        found = points(run(allocation, Layout(20, 12), "ring_random", "-m", "8:8"))[8]
    assert 1e6 * found["loop_mean_max"] == pytest.approx(printed_us, rel=0.05)
