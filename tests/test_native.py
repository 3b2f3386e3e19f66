"""The native programs as installed: every NAS kernel verifies, every MPI function runs."""

import json
import subprocess
from dataclasses import fields
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.platforms.hosts.launchers.job import Job, Node
from bareline.probes.base import load_probes
from bareline.probes.mpi.installed import ImbParams, OsuParams
from bareline.vocabulary.collectives import MEASURED
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Layout

pytestmark = pytest.mark.mpi

KERNELS = ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu")
MPI = ("openmpi", "mpich")
#: What mpibench measures and no probe does.
NOT_PROBED = {"overlap_ibarrier": "mpi.overlap asks by message size, and a barrier has no message"}


def functions():
    """Name the benchmarks of mpibench that probes run, and whether each has sizes."""
    for probe in load_probes().values():
        choices = [field for field in fields(probe.params) if field.name in ("order", "operation")]
        hints = get_type_hints(probe.params)
        chosen = [(one.name, each) for one in choices for each in get_args(hints[one.name])]
        for given in [dict([one]) for one in chosen] or [{}]:
            argv = probe.command(probe.make_params(given), Layout(1, 2)).argv
            if argv[0] == "{native}/mpibench":
                yield argv[1], "-m" in argv


FUNCTIONS = dict(functions())


@pytest.fixture(scope="module", params=MPI)
def launch(request):
    """Run a native program under MPI: ``launch(ranks, program, *arguments)``."""
    try:
        mpi = find_mpi(request.param)
        build = build_native(mpi, cache_folder())
    except BarelineError as error:
        pytest.skip(str(error))

    def go(ranks, program, *arguments, code=0):
        if not (build.programs / program).exists():
            pytest.skip(f"{program} was not built: {', '.join(build.left_out)}")
        line = mpi.argv(
            Job(
                argv=[str(build.programs / program), *map(str, arguments)],
                layout=Layout(1, ranks),
                nodes=[Node("localhost", "127.0.0.1", 1)],
            )
        )
        try:
            done = _run(line)
        except subprocess.TimeoutExpired:
            if request.param != "mpich":
                raise
            # MPICH 4.0 over UCX hangs in MPI_Finalize once in some hundred launches.
            done = _run(line)
        assert done.returncode == code or (code and done.returncode), done.stderr
        return done

    return go


def _run(line):
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


def points(done):
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert rows[-1]["end"] is True
    return rows[1:-1]


@pytest.mark.parametrize("ranks", [1, 4])
@pytest.mark.parametrize("kernel", KERNELS)
def test_class_s_verifies(launch, kernel, ranks):
    (point,) = points(launch(ranks, f"npb_{kernel}", "S"))
    assert point["verified"] is True
    assert point["verification"]
    for quantity in point["verification"]:
        assert quantity["passed"] is True


@pytest.mark.parametrize("kernel", ["ep", "is", "cg", "mg"])
def test_class_w_of_the_quick_kernels_verifies_on_two_ranks(launch, kernel):
    (point,) = points(launch(2, f"npb_{kernel}", "W"))
    assert point["verified"] is True


@pytest.mark.parametrize(
    ("kernel", "ranks", "problem_class"), [("bt", 3, "S"), ("cg", 3, "S"), ("ep", 1, "Q")]
)
def test_what_a_kernel_cannot_do_is_refused_before_any_work(launch, kernel, ranks, problem_class):
    done = launch(ranks, f"npb_{kernel}", problem_class, code=2)
    assert done.stdout == ""
    assert f"npb_{kernel}" in done.stderr


@pytest.mark.parametrize("ranks", [1, 3, 4])
def test_linpack_is_solved_on_any_number_of_ranks(launch, ranks):
    options = ("--program", "scalapack", "--n", "130", "--nb", "16", "--repeat", "2")
    (point,) = points(launch(ranks, "linpack_mpi", *options))
    assert point["verified"] is True and 0 < point["residual"] < 16
    assert 0 < point["rate"]["median"] < 1.5 * point["peak_rate"] * point["peak_cores"]


@pytest.mark.parametrize("ranks", [4, 5])
def test_every_pair_of_a_fleet_meets_once(launch, ranks):
    small = ("-i", "5", "--repeats", "2", "--size", "4096")
    met = [
        tuple(point["point"].values())
        for point in points(launch(ranks, "fleetbench", "pairs", *small))
    ]
    assert sorted(met) == [(a, b) for a in range(ranks) for b in range(a + 1, ranks)]


def test_a_sample_of_pairs_is_at_distances_of_powers_of_two(launch):
    small = ("-i", "2", "--repeats", "1", "--size", "64", "--pairs", "sampled", "--together")
    met = [
        tuple(point["point"].values()) for point in points(launch(6, "fleetbench", "pairs", *small))
    ]
    assert sorted(met) == [(a, b) for a in range(6) for b in range(a + 1, 6) if b - a in (1, 2, 4)]


@pytest.mark.parametrize("what", ["processor", "memory"])
def test_every_node_of_a_fleet_has_a_rate(launch, what):
    small = ("--duration", "0.02", "--array-bytes", "65536", "--names", "n[1-3]")
    done = launch(3, "fleetbench", what, *small)
    assert [point["point"] for point in points(done)] == [{"rank": rank} for rank in range(3)]
    assert all(point["rate"] > 0 for point in points(done))
    assert json.loads(done.stdout.splitlines()[0])["names"] == "n[1-3]"


def test_an_xhpl_that_is_not_there_is_named(launch):
    done = launch(1, "linpack_mpi", "--program", "xhpl", code=1)
    assert "xhpl cannot be started" in done.stderr


def test_ranks_become_the_xhpl_on_the_path(launch, tmp_path, monkeypatch):
    xhpl = tmp_path / "xhpl"
    xhpl.write_text("#!/bin/sh\necho solved by HPL\n")
    xhpl.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for program in ("auto", "xhpl"):
        done = launch(2, "linpack_mpi", "--program", program)
        assert done.stdout.splitlines() == ["solved by HPL"] * 2
    (point,) = points(launch(2, "linpack_mpi", "--program", "scalapack", "--n", "40"))
    assert point["verified"] is True


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_mpi_function_is_verified_on_two_ranks(launch, function):
    sizes = ("-m", "8:1024") if FUNCTIONS[function] else ()
    found = points(launch(2, "mpibench", function, *sizes, "-t", "10", "-i", "10", "-x", "1"))
    assert found
    assert all(point["verified"] for point in found)


def test_every_function_of_mpibench_has_a_probe_or_a_reason(launch):
    lines = launch(1, "mpibench", "--list").stdout.splitlines()
    listed = {row["name"]: row for row in map(json.loads, lines)}
    assert listed.keys() == FUNCTIONS.keys() | NOT_PROBED.keys()
    assert not FUNCTIONS.keys() & NOT_PROBED.keys()
    # The collectives are declared in both languages.
    for each in MEASURED:
        row = listed[each.name]
        assert (row["osu"], row["imb"]) == (f"osu_{each.name}", each.imb)
        assert row.get("size_min_bytes", 0) == each.smallest_bytes
    programs = get_args(get_type_hints(OsuParams)["program"])
    assert {*programs} == {"latency", "multi_lat", *(each.name for each in MEASURED)}
    benchmarks = get_args(get_type_hints(ImbParams)["benchmark"])
    assert {each.imb for each in MEASURED} <= {*benchmarks}


@pytest.fixture
def spoil(launch, request, tmp_path, monkeypatch):
    """Spoil what ranks write, in a way of ``native/tests/spoil_files.c``: ``spoil("flip")``."""
    mpi = find_mpi(request.node.callspec.params["launch"])
    if mpi.mpicc is None:
        pytest.skip(f"{mpi.title} has no compiler wrapper here")
    source = Path(__file__).parents[1] / "native" / "tests" / "spoil_files.c"
    library = tmp_path / "spoil.so"
    line = [mpi.mpicc, "-std=c11", "-shared", "-fPIC", "-o", library, source, "-ldl"]
    subprocess.run(line, check=True)

    def go(kind):
        monkeypatch.setenv("BL_SPOIL", kind)
        monkeypatch.setenv("LD_PRELOAD", str(library))

    return go


@pytest.mark.parametrize(
    ("kind", "said"),
    [("flip", "does not hold what rank"), ("full", "No space left on device, take less data")],
)
def test_what_ranks_write_wrongly_or_not_at_all_is_no_result(launch, spoil, tmp_path, kind, said):
    folder = tmp_path / "measured"
    folder.mkdir()
    pattern = ("--block", "47008", "--transfer", "47008", "--segments", "4")
    spoil(kind)
    done = launch(2, "iobench_mpi", "parallel", "--folder", folder, *pattern, code=1)
    assert said in done.stderr
    assert '"end"' not in done.stdout
    assert list(folder.iterdir()) == []
