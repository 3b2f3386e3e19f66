"""Summaries of NPB itself: versions, wrong results, foreign MPI libraries, missing binaries."""

import subprocess
from pathlib import Path

import pytest

from bareline.probes.base import find_probe, load_probes
from bareline.probes.npb.kernels import NpbProgram, operation_count
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).with_name("data")
PROBE = find_probe("npb.reference")
GOOD = (DATA / "npb.reference.good.out").read_text()


def read(text, **params):
    out = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    return {s.metric: s.value for s in PROBE.read(PROBE.make_params(params), out).samples}


def test_time_is_known_better_than_its_two_decimals():
    values = read(GOOD)
    assert values["rate"] == 3802.17e6
    assert values["time"] == pytest.approx(420.63e6 / 3802.17e6)


def test_version_3_3_in_c():
    text = (DATA / "npb.reference.is-3.3.out").read_text()
    assert read(text, kernel="is", problem_class="A")["rate"] == 204.85e6


@pytest.mark.parametrize(
    ("found", "replacement", "code"),
    [
        ("=               SUCCESSFUL", "=             UNSUCCESSFUL", "BL-FORMATS-899"),
        ("=               SUCCESSFUL", "=            NOT PERFORMED", "BL-FORMATS-899"),
        ("CG Benchmark Completed", "FT Benchmark Completed", "BL-PROBES-180"),
        ("Class           =                        W", "Class = A", "BL-PROBES-472"),
        ("Active processes=                        4", "Active processes= 2", "BL-PROBES-579"),
        ("Time in seconds =                     0.11", "Time in seconds = 0.16", "BL-PROBES-208"),
        ("Mop/s/process   =                   950.54", "Mop/s/process = 905.54", "BL-PROBES-486"),
        ("Mop/s total     =                  3802.17", "Mop/s total = 0.00", "BL-PROBES-569"),
        ("Mop/s total     =                  3802.17", "Mop/s total = *****", "BL-FORMATS-648"),
        ("Total processes =                        4", "Total threads = 4", "BL-PROBES-320"),
        ("npb@nas.nasa.gov", "", "BL-FORMATS-235"),
    ],
)
def test_doubtful_summaries_are_refused(found, replacement, code):
    assert found in GOOD
    with raises(ParseError, code):
        read(GOOD.replace(found, replacement))


def test_ranks_that_do_not_know_of_each_other_are_noticed():
    with raises(ParseError, "BL-FORMATS-295"):
        read(GOOD * 4)


def test_ranks_follow_the_benchmark():
    params = PROBE.make_params({"kernel": "bt", "problem_class": "A"})
    PROBE.check_ranks(params, 9)
    with raises(ProbeError, "BL-PROBES-123"):
        PROBE.check_ranks(params, 8)


def test_a_relative_folder_is_refused():
    with raises(ProbeError, "BL-PROBES-837"):
        PROBE.make_params({"folder": "npb/bin"})


def launch(tmp_path, monkeypatch, folder, **params):
    """Run the command's script as a platform does, without MPI."""
    monkeypatch.setenv("BARELINE_NPB_FOLDER", folder)
    command = PROBE.command(PROBE.make_params(params), Layout(1, 4))
    for name, text in command.inputs:
        (tmp_path / name).write_text(text)
    argv = [part.replace("{workdir}", str(tmp_path)) for part in command.argv]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", ["cg.W.x", "cg.W.4", "bin/cg.W.x"])
def test_binaries_are_found_by_either_name(tmp_path, monkeypatch, name):
    program = tmp_path / "npb" / name
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    done = launch(tmp_path, monkeypatch, str(tmp_path / "npb"))
    assert (done.returncode, done.stdout) == (0, "found\n")


def test_a_missing_binary_is_named_with_those_that_are_there(tmp_path, monkeypatch):
    (tmp_path / "ep.A.x").touch()
    (tmp_path / "cg.W.2").touch()
    done = launch(tmp_path, monkeypatch, str(tmp_path))
    assert done.returncode == 2
    assert "no cg.W.x or cg.W.4" in done.stderr
    assert "there: cg.W.2 ep.A.x\n" in done.stderr


@pytest.mark.parametrize(
    ("folder", "message"), [("", "BARELINE_NPB_FOLDER"), ("/nonexistent", "no folder '/nonex")]
)
def test_a_missing_folder_is_an_error(tmp_path, monkeypatch, folder, message):
    done = launch(tmp_path, monkeypatch, folder)
    assert done.returncode == 2
    assert message in done.stderr


def test_operation_counts_are_those_of_our_programs():
    for probe in load_probes().values():
        if isinstance(probe, NpbProgram):
            text = (DATA / f"{probe.name}.good.out").read_text()
            counted = float(text.partition('"operations":')[2].partition(",")[0])
            assert operation_count(probe.name.removeprefix("npb."), "W") == pytest.approx(
                counted, rel=1e-10
            )


@pytest.mark.parametrize(
    ("kernel", "mop"),
    [("ep", 536.870912), ("cg", 1496.46), ("ft", 7136.44376), ("bt", 168284.46336)],
)
def test_operation_counts_are_the_published_ones(kernel, mop):
    assert operation_count(kernel, "A") == pytest.approx(mop * 1e6, rel=1e-8)
