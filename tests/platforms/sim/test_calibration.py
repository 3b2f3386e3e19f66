"""A platform calibrated from a run of a simulated one is that one again."""

import json
import shutil
import tomllib

import polars as pl
import pytest
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.platforms.sim.network import seconds_at
from bareline.session.calibration import _both_ways, _overheads

pytestmark = [
    pytest.mark.sim,
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed"),
]

PLATFORM = """
[platform.truth]
type = "sim"
nodes = 2
cores = 1
curve = [[0, 12e-6], [1024, 14e-6], [16384, 40e-6], [65536, 95e-6], [131072, 150e-6]]
send_overhead_s = [[0, 7e-6], [256, 7e-6], [4096, 11e-6]]
receive_overhead_s = 4.4e-6
both_ways_bytes_per_s = 1.6e9
compute_factor = 2.0
"""
STUDY = """
[study]
name = "one"
launches = 1
min_launches = 1
precision = 0
""" + "".join(
    f'[[measure]]\nprobe = "{probe}"\nranks = 2\nnodes = 2\nparams = {params}\n'
    for probe, params in (
        ("mpi.pingpong", "{ max_bytes = 131072 }"),
        ("mpi.multi_pair", "{ max_bytes = 4096 }"),
        ("mpi.sendrecv", "{ min_bytes = 4194304 }"),
        ("mpi.allreduce", "{ max_bytes = 32768 }"),
        ("mpi.alltoall", "{ max_bytes = 32768 }"),
        ("npb.cg", '{ problem_class = "S" }'),
    )
)


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_calibration_finds_the_planted_network_and_processor(tmp_path, fits):
    (tmp_path / "platforms.toml").write_text(PLATFORM)
    (tmp_path / "one.toml").write_text(STUDY)
    folder, made = tmp_path / "run", tmp_path / "again.toml"
    run("run", tmp_path / "one.toml", "--on", "truth", "--platforms", tmp_path / "platforms.toml",
        "--out", folder)  # fmt: skip
    rows = json.loads(run("calibrate", "--from", folder, "-o", made, "--json"))
    fits("calibrate", rows)
    probes = {row["probe"] for row in rows}
    assert probes == {
        "mpi.pingpong", "mpi.multi_pair", "mpi.sendrecv", "mpi.allreduce", "mpi.alltoall", "npb.cg"
    }  # fmt: skip
    for row in rows:
        # The rate of a window holds its answer, too: the overhead is found to a few percent.
        assert abs(row["error"]) < (0.02 if row["probe"] == "mpi.pingpong" else 0.08), row
    table = tomllib.loads(made.read_text())["platform"]["again"]
    sending = dict(table["send_overhead_s"])
    for size, seconds in ((0, 7e-6), (256, 7e-6), (2048, 8.867e-6), (4096, 11e-6)):
        assert sending[size] == pytest.approx(seconds, rel=0.08)
    assert table["both_ways_bytes_per_s"] == pytest.approx(1.6e9, rel=0.02)
    assert table["compute_factor"] == pytest.approx(2.0, rel=0.02)
    assert len(table["checks"]) == len(rows)
    # Shows that the file is a platform.
    assert "again" in run("platforms", "--platforms", made)


def table_of(rows):
    """Give points between two nodes as a summary has them: probe, metric, bytes, value."""
    return pl.DataFrame(
        [
            {"probe": probe, "metric": metric, "headline": metric != "receive", "ranks": 2,
             "nodes": nodes, "point": f"size_bytes={size}", "value": value, "unit": unit}
            for probe, metric, nodes, size, value, unit in rows
        ]
    )  # fmt: skip


RATE = ("mpi.multi_pair", "bandwidth", 2, 8, 8 / 4e-6, "B/s")
RECEIVE = ("mpi.overhead", "receive", 0, 8, 3e-6, "s")
WITHIN_A_NODE = ("mpi.overhead", "receive", 1, 8, 25e-6, "s")


def overheads(tables, latency_s):
    """Give what a message of 8 bytes costs: sender, receiver, departure."""
    found = _overheads(tables, [(0, latency_s), (65_536, latency_s)], 65_536)
    return [seconds_at(found[f"{name}_s"], 8) for name in NAMES]


NAMES = ("send_overhead", "receive_overhead", "departure")


def test_a_receiver_without_a_measure_takes_what_the_one_way_time_leaves():
    assert overheads([table_of([RATE])], 6e-6) == pytest.approx([4e-6, 1.7e-6, 4e-6])
    assert _overheads([table_of([RECEIVE])], [(0, 6e-6)], 65_536) == {}


def test_a_second_run_tells_what_a_receiver_does_and_when_a_message_leaves():
    """4 and 3 us of 6: the message leaves after 2.7 us, and its sender goes on for 1.3."""
    tables = [table_of([RATE]), table_of([RECEIVE, WITHIN_A_NODE])]
    assert overheads(tables, 6e-6) == pytest.approx([4e-6, 3e-6, 2.7e-6])
    # The first run's own measure goes before the second one's.
    mine = table_of([RATE, ("mpi.overhead", "receive", 2, 8, 1e-6, "s")])
    assert overheads([mine, tables[1]], 6e-6) == pytest.approx([4e-6, 1e-6, 4e-6])


def test_larger_messages_have_overheads_of_their_own_as_far_as_they_are_sent_at_once():
    """The curve is 8 us at 1 KiB: a sender may be busy for longer than a message takes."""
    rows = [("mpi.multi_pair", "bandwidth", 2, size, size / busy_s, "B/s")
            for size, busy_s in ((1, 4e-6), (8, 5e-6), (1024, 9e-6), (65_536, 90e-6))]  # fmt: skip
    # What the link needs for 16 KiB says nothing of the sender; of one size the better one counts.
    rows += [("mpi.multi_pair", "bandwidth", 2, size, size / busy_s, "B/s")
             for size, busy_s in ((16_384, 24e-6), (1024, 12e-6))]  # fmt: skip
    rows += [("mpi.overhead", "receive", 2, size, seconds, "s")
             for size, seconds in ((8, 2e-6), (1024, 3e-6))]  # fmt: skip
    found = _overheads([table_of(rows)], [(0, 6e-6), (1024, 8e-6), (65_536, 95e-6)], 65_536)
    assert found == {
        "send_overhead_s": [[0, 4e-6], [64, 4e-6], [1024, 9e-6]],
        "receive_overhead_s": [[0, 2e-6], [64, 2e-6], [1024, 3e-6]],
        "departure_s": [[0, 3.7e-6], [64, pytest.approx(3.819e-6)], [1024, pytest.approx(4.6e-6)]],
    }


def test_nodes_carry_both_ways_what_the_faster_way_of_crossing_reaches():
    """Windows of many messages may be slower than one that crosses another, and the reverse."""
    curve = [(0, 10e-6), (1_000_000, 1010e-6)]
    crossing = [
        ("mpi.sendrecv", "bandwidth", 2, 1_000_000, 1.9e9, "B/s"),
        ("mpi.sendrecv", "bandwidth", 2, 1_000, 0.1e9, "B/s"),
    ]
    window = ("mpi.bibandwidth", "bandwidth", 2, 1_000_000, 1.1e9, "B/s")
    assert _both_ways([table_of([window])], curve) == 1.1e9
    assert _both_ways([table_of([window, *crossing])], curve) == 1.9e9
    assert _both_ways([table_of([RATE])], curve) is None
    # Twice one direction is no limit.
    assert _both_ways([table_of([("mpi.sendrecv", "bandwidth", 2, 9, 2e9, "B/s")])], curve) is None
