"""`compare OLD NEW`: runs or outputs; the first is the baseline, a shared platform is its own."""

import json
import os
import re

import numpy as np
import pytest

OSU = "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n"


def osu(seed, factor, sizes=12):
    generator = np.random.default_rng(seed)
    lines = []
    for power in range(sizes):
        time_us = (1.5 + 2**power / 5000) * factor * float(np.exp(0.01 * generator.normal()))
        lines.append(f"{2**power:<16d}{time_us:>12.2f}\n")
    return OSU + "".join(lines)


@pytest.fixture
def sides(place):
    """Folders with six outputs each, the second one's times multiplied by 4."""
    for number, (folder, factor) in enumerate({"old": 1.0, "new": 4.0}.items()):
        (place / folder).mkdir()
        for launch in range(6):
            text = osu(100 * number + launch, factor)
            (place / folder / f"osu{launch}.txt").write_text(text)
    return place


def measured(bareline, *runs):
    for run in runs:
        bareline("run", "planted.toml", "--on", "a", "--on", "b", "-o", run)


def test_a_platform_of_two_runs_is_compared_with_itself(bareline):
    """It was: no platform 'a' in these records; --baseline takes one of: a@n1, ..."""
    measured(bareline, "nights/n1", "nights/n8")
    rows = json.loads(bareline("compare", "nights/n1", "nights/n8", "--json").stdout)
    pairs = {(row["platform"], row["baseline"]) for row in rows}
    assert pairs == {("a@n8", "a@n1"), ("b@n8", "b@n1")}
    said = bareline("compare", "nights/n1", "nights/n8").stdout
    assert said.startswith("On a@n8 ")
    assert "On b@n8 " in said
    bareline("compare", "nights/n1", "nights/n8", "--fail-if", "b@n8:null > 1.5")


def test_a_platform_of_the_new_run_alone_is_compared_with_the_baseline(bareline):
    bareline("run", "planted.toml", "--on", "a", "-o", "r1")
    measured(bareline, "r2")
    rows = json.loads(bareline("compare", "r1", "r2", "--json").stdout)
    pairs = {(row["platform"], row["baseline"]) for row in rows}
    assert pairs == {("a@r2", "a@r1"), ("b", "a@r1")}


def test_runs_of_one_name_keep_their_platforms_apart(bareline):
    """Both were a@run, and every launch of either counted for the other."""
    measured(bareline, "old/run", "new/run")
    rows = json.loads(bareline("compare", "old/run", "new/run", "--json").stdout)
    assert {row["platform"] for row in rows} == {"a@new", "b@new"}
    assert {row["n"] for row in rows} == {row["n_baseline"] for row in rows} == {7}


def test_a_baseline_that_is_named_is_what_all_are_compared_with(bareline):
    measured(bareline, "n1", "n8")
    rows = json.loads(bareline("compare", "n1", "n8", "--baseline", "a@n8", "--json").stdout)
    assert {row["baseline"] for row in rows} == {"a@n8"}
    assert {row["platform"] for row in rows} == {"a@n1", "b@n1", "b@n8"}


def test_outputs_are_compared_without_an_import(bareline, sides):
    done = bareline("compare", "old", "new", "--json")
    rows = json.loads(done.stdout)
    assert {(row["platform"], row["baseline"]) for row in rows} == {("new", "old")}
    assert {row["grade"] for row in rows} == {"certain"}
    assert done.has_line("old", "OSU micro-benchmarks 5.x to 7.x", 6)
    assert sorted(path.name for path in sides.iterdir()) == [
        "new", "old", "planted.toml", "platforms.toml"
    ]  # fmt: skip


def test_every_size_has_both_values_in_the_unit_of_osu(bareline, sides):
    said = bareline("compare", "old/osu0.txt", "new/osu0.txt", "--sizes").stdout
    assert said.startswith("On new ")
    printed = {}
    for folder in ("old", "new"):
        lines = (sides / folder / "osu0.txt").read_text().splitlines()[2:]
        for line in lines:
            size, value = line.split()
            printed.setdefault(size, []).append(value)
    rows = [line.split() for line in said.splitlines() if re.match(r" *\d+ ", line)]
    assert {row[0]: row[1:3] for row in rows} == printed
    assert "old (us)" in said


def test_sizes_without_any_are_said(bareline):
    measured(bareline, "r")
    assert "No value has a message size" in bareline("compare", "r", "--sizes").stdout


def test_a_run_and_outputs_compare(bareline, sides):
    bareline("import", "old", "--platform", "bare", "-o", "kept")
    rows = json.loads(bareline("compare", "kept", "new", "--json").stdout)
    assert {(row["platform"], row["baseline"]) for row in rows} == {("new", "bare")}


@pytest.mark.parametrize(
    ("odd", "error"),
    [
        ("empty", "BL-FORMATS-365"),
        ("garbage", "BL-FORMATS-758"),
        ("nothing-there", "BL-STORE-971"),
        ("fifo", "BL-FORMATS-243"),
        ("folder", "BL-FORMATS-743"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(bareline, sides, odd, error):
    (sides / "empty").write_text("")
    (sides / "garbage").write_text("neither this nor that\n")
    (sides / "folder").mkdir()
    os.mkfifo(sides / "fifo")
    done = bareline("compare", "old", odd, code=2)
    assert done.ended_by(error) and odd in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_folder_of_runs_is_refused_with_one_of_them(bareline, sides):
    bareline("import", "old", "--platform", "bare", "-o", "nights/n1")
    done = bareline("compare", "nights", "new", code=2)
    assert done.ended_by("BL-SESSION-399", "nights", "1", "nights/n1")


def test_an_import_names_the_launches_that_its_rows_need(bareline, sides):
    """It suggested that six launches are enough, however much they vary."""
    for launch in range(6):
        (sides / "new" / f"osu{launch}.txt").write_text(osu(launch, 1.0 + launch / 4))
    noisy = bareline("import", "new", "--platform", "p", "-o", "noisy").stderr
    assert "12 rows vary by " in noisy
    assert int(noisy.partition("about ")[2].split()[0]) > 6
    quiet = bareline("import", "old", "--platform", "p", "-o", "quiet").stderr
    assert "about 6 launches of each side" in quiet


def test_ranks_that_outputs_lack_can_be_given(bareline, place):
    """One side imported with --ranks, the other not: every row was missing."""
    text = "# OSU MPI Allreduce Latency Test v7.3\n# Size       Avg Latency(us)\n"
    for folder in ("known", "unknown"):
        (place / folder).mkdir()
        for launch in range(6):
            row = f"4                       1.5{launch}\n8                       1.6{launch}\n"
            (place / folder / f"{launch}.txt").write_text(text + row)
    bareline("import", "known", "--platform", "bare", "--ranks", "4", "-o", "r")
    said = " ".join(bareline("compare", "r", "unknown").stdout.split())
    assert "the number of ranks of unknown is not known, bare has 4; import with --ranks" in said
    rows = json.loads(bareline("compare", "r", "unknown", "--ranks", "4", "--json").stdout)
    assert {row["verdict"] for row in rows} <= {"equivalent", "inconclusive"}
