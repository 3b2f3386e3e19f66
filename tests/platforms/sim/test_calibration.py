"""A platform calibrated from a run of a simulated one is that one again."""

import json
import shutil
import tomllib

import pytest
from typer.testing import CliRunner

from bareline.cli.main import app

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
send_overhead_s = 7e-6
receive_overhead_s = 4.4e-6
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
        ("mpi.multi_pair", "{ max_bytes = 64 }"),
        ("mpi.allreduce", "{ max_bytes = 32768 }"),
        ("mpi.alltoall", "{ max_bytes = 32768 }"),
        ("npb.cg", '{ problem_class = "S" }'),
    )
)


def run(*arguments):
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_calibration_finds_the_planted_network_and_processor(tmp_path):
    (tmp_path / "platforms.toml").write_text(PLATFORM)
    (tmp_path / "one.toml").write_text(STUDY)
    folder, made = tmp_path / "run", tmp_path / "again.toml"
    run("run", tmp_path / "one.toml", "--on", "truth", "--platforms", tmp_path / "platforms.toml",
        "--out", folder)  # fmt: skip
    rows = json.loads(run("calibrate", "--from", folder, "-o", made, "--json"))
    probes = {row["probe"] for row in rows}
    assert probes == {"mpi.pingpong", "mpi.multi_pair", "mpi.allreduce", "mpi.alltoall", "npb.cg"}
    for row in rows:
        # The rate of a window holds its answer, too: the overhead is found to a few percent.
        assert abs(row["error"]) < (0.02 if row["probe"] == "mpi.pingpong" else 0.08), row
    table = tomllib.loads(made.read_text())["platform"]["again"]
    assert table["send_overhead_s"] == pytest.approx(7e-6, rel=0.08)
    assert table["compute_factor"] == pytest.approx(2.0, rel=0.02)
    assert len(table["checks"]) == len(rows)
    # Shows that the file is a platform.
    assert "again" in run("platforms", "--platforms", made)
