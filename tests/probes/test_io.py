"""I/O probes: what makes a rate doubtful, and outputs that contradict themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bareline.probes.base import find_probe
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).with_name("data")


def read(name, change=None, **params):
    """Read a captured output after `change` has had its way with each of its points."""
    probe = find_probe(name)
    rows = [json.loads(line) for line in (DATA / f"{name}.good.out").read_text().splitlines()]
    for row in rows[1:-1]:
        if change:
            change(row)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    checked = probe.make_params(params)
    return probe.read(checked, Output(stdout=text, stderr="", exit_code=0, duration_s=1.0))


def caveats(samples, metric):
    return {caveat for sample in samples if sample.metric == metric for caveat in sample.caveats}


def test_a_clean_sequential_run_has_no_caveat():
    assert all(sample.caveats == () for sample in read("io.sequential"))


def test_a_cached_read_is_never_shown_without_its_caveat():
    samples = read("io.sequential", lambda row: row.update(cached_before_read_bytes=4096))
    for metric in ("read_rate", "read_call_median", "read_call_p99", "read_call_max"):
        assert caveats(samples, metric) == {"page-cache"}
    assert caveats(samples, "write_rate") == set()


def test_direct_io_through_the_cache_is_told():
    samples = read(
        "io.sequential", lambda row: row.update(cached_after_write_bytes=4096), mode="direct"
    )
    assert caveats(samples, "write_rate") == {"not-direct"}


def test_a_file_that_the_budget_ended_is_told():
    def shorten(row):
        for way, name in (("write", "written_bytes"), ("read", "read_bytes")):
            row[name] //= 4
            row[f"{way}_time"]["mean"] *= 4
        row["loop_write_rate"] = row["written_bytes"] / (
            row["write_time"]["mean"] * row["written_bytes"] / row["point"]["block_bytes"]
            + row["sync_s"]
        )
        row["loop_read_rate"] /= 4

    samples = read("io.sequential", shorten)
    assert caveats(samples, "write_rate") == caveats(samples, "read_rate") == {"short-file"}


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(loop_read_rate=2 * row["loop_read_rate"]),
        lambda row: row.update(sync_s=row["sync_s"] + 10),
        lambda row: row.update(written_bytes=2 * row["written_bytes"]),
        lambda row: row.update(read_bytes=0),
        lambda row: row.pop("cached_before_read_bytes"),
    ],
)
def test_figures_that_contradict_each_other_are_refused(change):
    with pytest.raises(ParseError):
        read("io.sequential", change)


def test_files_that_nobody_synced_are_told():
    probe = find_probe("io.create")
    output = Output(stdout="", stderr="", exit_code=0, duration_s=1.0)
    assert tuple(probe.caveats(probe.make_params({"sync": "none"}), output)) == ("not-synced",)
    assert tuple(probe.caveats(probe.make_params({}), output)) == ()


def test_a_cached_fio_job_carries_its_caveat():
    probe = find_probe("io.fio")
    text = (DATA / "io.fio.good.out").read_text().replace('"direct" : "1"', '"direct" : "0"')
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    samples = probe.read(probe.make_params({"direct": False}), output)
    assert caveats(samples, "bandwidth") == {"page-cache"}
    with pytest.raises(ParseError, match="another job"):
        probe.read(probe.make_params({}), output)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("io.sequential", {"file_bytes": 65536}),
        ("io.sequential", {"min_block_bytes": 1000}),
        ("io.sequential", {"min_block_bytes": 1 << 25}),
        ("io.create", {"files": 3, "directories": 4}),
        ("io.fio", {"iodepth": 8}),
        ("io.fio", {"size": 4096}),
    ],
)
def test_parameters_that_leave_nothing_to_measure_are_refused(name, params):
    with pytest.raises(ProbeError):
        find_probe(name).make_params(params)


@pytest.mark.parametrize("name", ["io.sequential", "io.create", "io.fio"])
def test_commands_work_in_the_trials_folder_and_say_how_much_they_write(name):
    probe = find_probe(name)
    command = probe.command(probe.make_params({}), Layout(1, 1, 2))
    assert any("{workdir}" in part for part in command.argv)
    assert command.storage_bytes >= 1 << 20
