"""Users' own OSU and IMB: command lines, the search for the program, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from bareline.probes.base import find_probe
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).parent / "data"
IMPORTED = Path(__file__).parents[1] / "formats" / "data"


def command(name: str, **params: str | int):
    probe = find_probe(name)
    return probe.command(probe.make_params(params), Layout(2, 2))


def read(name: str, text: str, **params: str | int):
    probe = find_probe(name)
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    return probe.read(probe.make_params(params), output).samples


@pytest.mark.parametrize(
    ("name", "params", "line"),
    [
        ("osu", {}, "osu_latency"),
        ("osu", {"program": "bcast", "max_bytes": 1 << 20, "iterations": 50, "warmup": 5},
         "osu_bcast -m 1:1048576 -i 50 -x 5"),
        ("osu", {"program": "barrier", "max_bytes": 1 << 20}, "osu_barrier"),
        ("osu.rate", {"program": "mbw_mr", "min_bytes": 8, "max_bytes": 64},
         "osu_mbw_mr -m 8:64"),
        ("imb", {}, "IMB-MPI1 PingPong -npmin 2"),
        ("imb", {"benchmark": "Allreduce", "max_bytes": 1 << 20, "iterations": 50},
         "IMB-MPI1 Allreduce -npmin 4 -msglog 20 -iter 50 -red_data_type double"),
        ("imb", {"benchmark": "Bcast", "root_shift": "on", "sync": "off"},
         "IMB-MPI1 Bcast -npmin 4 -root_shift on -sync off"),
    ],
)  # fmt: skip
def test_command_lines(name, params, line):
    found = command(name, **params)
    assert found.mpi
    assert list(found.argv[4:]) == line.split()
    assert found.requires == ("sh", line.split()[0])


def test_a_folder_or_module_is_looked_into_on_the_nodes(monkeypatch):
    assert command("osu", folder="/opt/osu").argv[2:4] == ("", "/opt/osu")
    assert command("osu", module="osu/7.4").argv[2:4] == ("osu/7.4", "")
    # The program may be nowhere on this machine.
    assert command("osu", folder="/opt/osu").requires == ("sh",)
    monkeypatch.setenv("BARELINE_IMB_FOLDER", "/opt/imb")
    assert command("imb").argv[3] == "/opt/imb"
    with raises(ProbeError, "BL-PROBES-837"):
        command("imb", folder="imb")


@pytest.mark.parametrize("depth", ["", "mpi", "mpi/pt2pt"])
def test_the_program_is_found_where_osu_installs_it(tmp_path, depth):
    folder = tmp_path / "libexec dir"
    (folder / depth).mkdir(parents=True)
    echo = shutil.which("echo")
    assert echo
    (folder / depth / "osu_latency").symlink_to(echo)
    done = _search(tmp_path, "", str(folder), "osu_latency", "-m", "1:8")
    assert (done.returncode, done.stdout) == (0, "-m 1:8\n")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("", "/nowhere", "osu_latency"), "osu_latency: neither in the folder '/nowhere'"),
        (("", "", "osu_nothing"), "osu_nothing: not on the path"),
        (("osu/7; touch harm", "", "osu_latency"), "osu_latency: "),
    ],
)
def test_what_is_missing_is_said_by_one_rank(tmp_path, words, reason):
    done = _search(tmp_path, *words)
    assert done.returncode == 2
    assert reason in done.stderr
    assert not (tmp_path / "harm").exists()
    assert _search(tmp_path, *words, OMPI_COMM_WORLD_RANK="1").stderr.count(": ") <= 1


def _search(folder: Path, *words: str, **env: str):
    ((name, script),) = command("osu").inputs
    (folder / name).write_text(script)
    return subprocess.run(
        ["sh", name, *words],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_another_program_or_another_end_is_refused():
    text = (DATA / "osu.good.out").read_text()
    assert read("osu", text, max_bytes=4 << 20)
    with raises(ParseError, "BL-PROBES-346", "4194304", "1048576"):
        read("osu", text, max_bytes=1 << 20)
    with raises(ParseError, "BL-PROBES-668", "osu.latency", "osu.bcast"):
        read("osu", text, program="bcast")
    with raises(ParseError, "BL-PROBES-668", "osu.latency"):
        read("osu", text + text)  # two ranks that do not know of each other


def test_a_collective_of_imb_has_least_and_greatest_and_its_options_are_held():
    text = (IMPORTED / "imb.v2021_options.out").read_text()
    samples = read("imb", text, benchmark="Bcast", max_bytes=4096)
    assert {sample.metric for sample in samples} == {"latency", "latency_min", "latency_max"}
    floats = text.replace("Bcast", "Allreduce")
    assert read("imb", floats, benchmark="Allreduce", red_data_type="float")
    with raises(ParseError, "BL-PROBES-309", "float"):
        read("imb", floats, benchmark="Allreduce")
    with raises(ParseError, "BL-PROBES-262"):
        read("imb", text.replace("# All processes entering MPI_Finalize", ""), benchmark="Bcast")
