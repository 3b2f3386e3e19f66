"""Real simulations: the curve comes back, the same simulation prints the same bytes."""

import json
import shutil
from contextlib import contextmanager
from dataclasses import replace

import pytest

from bareline.platforms.base import Context
from bareline.platforms.config import make_spec
from bareline.platforms.sim import PLATFORM
from bareline.probes.base import find_probe
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Command, Layout

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed"),
]

CURVE = [[0, 12e-6], [1024, 14e-6], [16_384, 40e-6], [65_536, 95e-6], [1 << 20, 980e-6]]
TABLE = {
    "type": "sim",
    "nodes": 4,
    "curve": CURVE,
    "send_overhead_s": 2e-6,
    "receive_overhead_s": 2e-6,
}


@contextmanager
def made(table, folder):
    folder.mkdir()
    platform = PLATFORM(make_spec("s", table, where="test"), Context(folder))
    with platform.acquire(Layout(4)) as allocation:
        yield allocation


@pytest.fixture
def cluster(tmp_path):
    with made(TABLE, tmp_path / "plain") as allocation:
        yield allocation


@pytest.fixture
def folding(tmp_path):
    with made({**TABLE, "fold": True}, tmp_path / "folding") as allocation:
        yield allocation


def mpibench(*arguments):
    return Command(argv=("{native}/mpibench", *arguments), mpi=True)


def points(output):
    assert output.exit_code == 0, output.stderr
    lines = [json.loads(line) for line in output.stdout.splitlines()]
    assert lines[-1]["end"] is True
    return {row["point"]["size_bytes"]: row for row in lines if "point" in row}


def test_ping_pong_gives_its_calibration_curve_back(cluster):
    output = cluster.run(mpibench("pingpong", "-m", "0:1048576"), Layout(2), timeout_s=60)
    assert output.clock == "simulated" and "simulated" in output.caveats
    measured = points(output)
    for size, seconds in CURVE:
        assert measured[size]["time"]["median"] == pytest.approx(seconds, rel=0.02), size


def test_an_allreduce_takes_the_algorithms_of_open_mpi(cluster):
    output = cluster.run(mpibench("allreduce", "-m", "8:65536"), Layout(4), timeout_s=60)
    measured = points(output)
    assert sorted(measured) == [2**k for k in range(3, 17)]
    # On four ranks recursive doubling from 16 bytes on: two exchanges.
    assert 2 * 12e-6 <= measured[16]["loop_mean"] <= 3 * 12e-6


def test_ranks_begin_together(cluster):
    """Two ranks that exchange: neither waits for the other to come."""
    point = points(cluster.run(mpibench("allreduce", "-m", "8:8"), Layout(2), timeout_s=60))[8]
    assert point["time"]["max"] == pytest.approx(point["rank_mean"], rel=0.001)
    assert point["time"]["max"] == pytest.approx(12e-6, rel=0.05)


def test_a_sender_may_be_busy_after_its_message_has_left(tmp_path):
    """An exchange takes what both ends do; one way takes less."""
    table = {**TABLE, "send_overhead_s": 9e-6, "receive_overhead_s": 8e-6, "departure_s": 3e-6}
    with made(table, tmp_path / "late") as allocation:
        one_way, exchange = (
            points(allocation.run(mpibench(name, "-m", "1:1"), Layout(2), timeout_s=60))[1]
            for name in ("pingpong", "sendrecv")
        )
    assert one_way["time"]["median"] == pytest.approx(12e-6, rel=0.02)
    assert exchange["time"]["median"] == pytest.approx(18e-6, rel=0.02)


def test_a_blocking_send_takes_all_that_the_sender_does(tmp_path):
    """SMPI knows what comes before a message leaves; the harness adds the rest."""
    table = {**TABLE, "send_overhead_s": [[0, 9e-6], [1 << 20, 9e-6]], "departure_s": 4e-6}
    with made(table, tmp_path / "busy") as allocation:
        command = Command(argv=("{native}/npb_cg", "S"), mpi=True)
        output = allocation.run(command, Layout(4), timeout_s=120)
    sends = json.loads(output.stdout.splitlines()[1])["mpi_s"]["MPI_Send"]
    assert sends["mean"] * 4 / sends["calls"] == pytest.approx(9e-6, rel=1e-3)


def test_a_kernel_verifies_and_the_same_simulation_prints_the_same_bytes(cluster):
    command = Command(argv=("{native}/npb_cg", "S"), mpi=True)
    first = cluster.run(command, Layout(4), timeout_s=120)
    assert first.exit_code == 0, first.stderr
    point = json.loads(first.stdout.splitlines()[1])
    assert point["verified"] is True
    assert point["compute_s"]["mean"] > 0
    assert cluster.run(command, Layout(4), timeout_s=120).stdout == first.stdout


def test_a_part_of_the_iterations_takes_its_share_and_is_not_verified(cluster):
    whole, part = (
        json.loads(cluster.run(command, Layout(4), timeout_s=120).stdout.splitlines()[1])
        for command in (
            Command(argv=("{native}/npb_cg", "S"), mpi=True),
            Command(argv=("{native}/npb_cg", "S", "-i", "3"), mpi=True),
        )
    )
    assert part["not_verified"] == "3 of 15 iterations" and "verified" not in part
    calls = [point["mpi_s"]["MPI_Send"]["calls"] for point in (whole, part)]
    assert calls[0] == 5 * calls[1]
    assert part["communication_s"]["max"] == pytest.approx(
        whole["communication_s"]["max"] / 5, rel=0.2
    )


def test_folded_memory_is_said_and_sends_the_same_messages(cluster, folding):
    command = Command(argv=("{native}/npb_ft", "S"), mpi=True)
    plain, folded = (
        json.loads(one.run(command, Layout(4), timeout_s=120).stdout.splitlines()[1])
        for one in (cluster, folding)
    )
    assert plain["verified"] is True
    assert folded["not_verified"] == "all ranks share one memory" and "verified" not in folded
    for name, function in plain["mpi_s"].items():
        assert folded["mpi_s"][name]["calls"] == function["calls"]
    # CG's matrix holds indices: it never shares memory.
    whole = folding.run(Command(argv=("{native}/npb_cg", "S"), mpi=True), Layout(4), timeout_s=120)
    assert json.loads(whole.stdout.splitlines()[1])["verified"] is True


def test_what_was_not_made_for_the_simulator_is_refused(cluster):
    with raises(PlatformError, "BL-PLATFORMS-171"):
        cluster.run(Command(argv=("nuttcp",)), Layout(2), timeout_s=5)


@pytest.mark.parametrize(("probe", "ranks"), [("allreduce", 4), ("bcast", 4), ("barrier", 3)])
def test_a_collective_s_headline_is_the_mean_of_its_loop(cluster, probe, ranks):
    """As in a program and in what was published, ranks enter as they come from the call before."""
    found = find_probe(f"mpi.{probe}")
    params = found.make_params({} if probe == "barrier" else {"min_bytes": 64, "max_bytes": 1024})
    command = found.command(params, Layout(ranks))
    output = cluster.run(command, Layout(ranks), timeout_s=60)
    samples = [(sample.metric, sample.value) for sample in found.read(params, output).samples]
    values = [value for metric, value in samples if metric == "latency"]
    assert values == [value for metric, value in samples if metric == "latency_loop_mean"]
    if probe == "bcast":  # whose root rotates in the loop
        on_wall = found.read(params, replace(output, clock="wall"))
        wall = [sample.value for sample in on_wall.samples]
        assert wall != [value for _, value in samples]


def test_no_budget_of_simulated_seconds_leaves_out_a_size(tmp_path):
    slow = {**TABLE, "curve": [[0, 1e-3], [1 << 20, 1.0]]}
    probe = find_probe("mpi.pingpong")
    params = probe.make_params({"min_bytes": 1 << 20, "max_bytes": 1 << 20, "budget_s": 0.01})
    with made(slow, tmp_path / "slow") as allocation:
        output = allocation.run(probe.command(params, Layout(2)), Layout(2), timeout_s=60)
    assert points(output)[1 << 20]["time"]["median"] == pytest.approx(1.0, rel=0.01)
    assert not probe.read(params, output).caveats


def test_facts_name_simulator_network_and_settings(cluster):
    facts = cluster.facts()
    assert "SimGrid" in facts["sim.simulator"]
    assert facts["sim.send_overhead_s"] == 2e-6
    assert facts["sim.algorithms"] == "coll-selector=ompi"
    assert "alltoallv" in facts["sim.algorithms_as_counted"]
