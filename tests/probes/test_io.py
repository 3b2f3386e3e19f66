"""I/O probes: what makes a rate doubtful, and outputs that contradict themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bareline.probes.base import find_probe
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).with_name("data")


def read(name, change=None, header=None, **params):
    """Read a captured output after `change` has had its way with each of its points.

    `header` takes the place of members of the first line or of its options.
    """
    probe = find_probe(name)
    rows = [json.loads(line) for line in (DATA / f"{name}.good.out").read_text().splitlines()]
    for key, value in (header or {}).items():
        options = rows[0]["options"]
        (options if key in options else rows[0])[key] = value
    for row in rows[1:-1]:
        if change:
            change(row)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    return probe.read(probe.make_params(params), output).samples


def caveats(samples, metric):
    return {caveat for sample in samples if sample.metric == metric for caveat in sample.caveats}


def test_a_clean_sequential_run_has_no_caveat():
    assert all(sample.caveats == () for sample in read("io.sequential"))


def test_a_cached_read_is_never_shown_without_its_caveat():
    samples = read("io.sequential", lambda row: row.update(cached_before_read_bytes=4096))
    for metric in ("read_rate", "read_call_median", "read_call_p99", "read_call_max"):
        assert caveats(samples, metric) == {"page-cache"}
    assert caveats(samples, "write_rate") == set()


def with_cached_read(row, kept_share=1.0):
    """Add a second reading at 4 GB/s to a point of iobench."""
    calls = row["written_bytes"] / row["point"]["block_bytes"]
    mean_s = row["written_bytes"] / 4e9 / calls
    row["cached_read_time"] = {**row["read_time"], "mean": mean_s}
    row.update(loop_cached_read_rate=4e9, cached_read_bytes=row["written_bytes"])
    row["kept_bytes"] = int(kept_share * row["written_bytes"])


def test_a_reading_from_the_page_cache_has_a_metric_of_its_own():
    samples = read("io.sequential", with_cached_read)
    cached = [sample for sample in samples if sample.metric == "cached_read_rate"]
    assert len(cached) == 6 and {sample.value for sample in cached} == {4e9}
    assert caveats(samples, "read_rate") == set()
    partly = read("io.sequential", lambda row: with_cached_read(row, kept_share=0.9))
    assert "cached_read_rate" not in {sample.metric for sample in partly}


def test_a_cached_reading_that_contradicts_itself_is_refused():
    def double(row):
        with_cached_read(row)
        row["loop_cached_read_rate"] *= 2

    with raises(ParseError, "BL-PROBES-138"):
        read("io.sequential", double)


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


def test_files_without_sync_have_a_caveat():
    probe = find_probe("io.create")
    rows = (DATA / "io.create.good.out").read_text().splitlines()
    synced = Output(stdout="\n".join(rows), stderr="", exit_code=0, duration_s=1.0)
    assert probe.read(probe.make_params({}), synced).caveats == ()
    others = [row for row in rows if '"phase":"sync"' not in row]
    text = "\n".join(others).replace('"points":6', '"points":5')
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    assert probe.read(probe.make_params({"sync": "none"}), output).caveats == ("not-synced",)


def test_files_are_made_by_the_writers_else_by_the_threads_of_the_layout():
    probe = find_probe("io.create")
    for params, threads in (({"writers": 16}, "16"), ({}, "2")):
        argv = probe.command(probe.make_params(params), Layout(threads_per_rank=2)).argv
        assert argv[argv.index("--threads") + 1] == threads


def test_a_cached_fio_job_carries_its_caveat():
    probe = find_probe("io.fio")
    text = (DATA / "io.fio.good.out").read_text().replace('"direct" : "1"', '"direct" : "0"')
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    samples = probe.read(probe.make_params({"direct": False}), output).samples
    assert caveats(samples, "bandwidth") == {"page-cache"}
    with raises(ParseError, "BL-PROBES-500"):
        probe.read(probe.make_params({}), output)


def lasting(row):
    """Let every phase have taken long enough to count."""
    for way, rate in (
        ("write", "loop_write_rate"),
        ("read", "loop_read_rate"),
        ("phase", "loop_rate"),
    ):
        if rate in row:
            factor = 20 / row[f"{way}_time_s"]
            row[f"{way}_time_s"] = 20.0
            row[rate] /= factor


@pytest.mark.parametrize("name", ["io.parallel", "io.metadata"])
def test_what_is_over_at_once_is_no_rate_that_lasts(name):
    headline = find_probe(name).headline
    assert "too-short" in caveats(read(name), headline)
    assert caveats(read(name, lasting), headline) == set()


def test_the_rate_of_all_ranks_and_that_of_the_slowest():
    samples = {sample.metric: sample.value for sample in read("io.parallel")}
    amount = 4 * (16 << 20)
    assert samples["write_rate"] * samples["write_time"] == pytest.approx(amount)
    assert 4 * samples["slowest_rank_write_rate"] >= samples["write_rate"]
    assert samples["median_rank_write_rate"] >= samples["slowest_rank_write_rate"]


REMOTE = {"remote": True, "own_readers": 0}


@pytest.mark.parametrize(
    ("header", "cached_bytes", "expected"),
    [
        ({}, 0, set()),
        ({}, 4096, {"page-cache"}),
        (REMOTE, 0, set()),
        (REMOTE | {"own_readers": 2}, 0, {"own-data"}),
        (REMOTE | {"own_readers": 2, "memory_bytes": 1 << 20}, 0, set()),
    ],
)
def test_memory_that_may_have_answered_is_told_where_it_was_read(header, cached_bytes, expected):
    def change(row):
        lasting(row)
        row["cached_before_read_bytes"] = cached_bytes

    samples = read("io.parallel", change, header)
    assert caveats(samples, "read_rate") == expected
    assert caveats(samples, "write_rate") == set()


def test_folders_of_the_nodes_own_are_told():
    for name in ("io.parallel", "io.metadata"):
        samples = read(name, lasting, {"one_folder": False})
        assert caveats(samples, find_probe(name).headline) == {"node-local"}


def test_ranks_that_did_not_sync_or_went_through_the_cache_are_told():
    samples = read("io.parallel", lasting, {"sync": "none"}, sync="none")
    assert caveats(samples, "write_rate") == {"not-synced"}
    samples = read("io.parallel", lasting, {"mode": "direct"}, mode="direct")
    assert caveats(samples, "write_rate") == {"not-direct"}
    samples = read("io.metadata", lasting, {"sync": "none"}, sync="none")
    assert caveats(samples, "create_rate") == {"not-synced"}
    assert caveats(samples, "remove_rate") == set()


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(loop_read_rate=2 * row["loop_read_rate"]),
        lambda row: row.update(written_bytes=row["written_bytes"] - 4 * (1 << 20)),
        lambda row: row.update(read_bytes=0),
        lambda row: row.update(iterations=row["iterations"] + 1),
        lambda row: row["write_rank_time"].update(max=2 * row["write_time_s"]),
        lambda row: row.update(write_call_max_s=2 * row["write_time_s"]),
    ],
)
def test_figures_of_many_ranks_that_contradict_each_other_are_refused(change):
    with pytest.raises(ParseError):
        read("io.parallel", change)


def test_the_output_of_another_job_is_refused():
    with raises(ParseError, "BL-PROBES-500"):
        read("io.parallel", files="own")
    with raises(ParseError, "BL-PROBES-500", "items", "100"):
        read("io.metadata", items=7)


def test_an_amount_that_a_duration_ended_is_what_was_written():
    def shorten(row):
        for name in ("written_bytes", "read_bytes", "iterations"):
            row[name] //= 4
        for way in ("write", "read"):
            row[f"loop_{way}_rate"] /= 4

    with raises(ParseError, "BL-PROBES-525", "4"):
        read("io.parallel", shorten)
    assert read("io.parallel", shorten, {"duration_s": 30}, duration_s=30)


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("io.parallel", {"block_bytes": 1000}),
        ("io.parallel", {"api": "mpiio", "mode": "direct"}),
        ("io.parallel", {"mode": "direct", "transfer_bytes": 47008, "block_bytes": 47008}),
        ("io.parallel", {"api": "mpiio-collective", "files": "own"}),
        ("io.sequential", {"file_bytes": 65536}),
        ("io.sequential", {"min_block_bytes": 1000}),
        ("io.sequential", {"min_block_bytes": 1 << 25}),
        ("io.create", {"files": 3, "directories": 4}),
        ("io.create", {"files": 3, "writers": 4}),
        ("io.create", {"writers": -1}),
        ("io.fio", {"iodepth": 8}),
        ("io.fio", {"size": 4096}),
    ],
)
def test_parameters_that_leave_nothing_to_measure_are_refused(name, params):
    with pytest.raises(ProbeError):
        find_probe(name).make_params(params)


@pytest.mark.parametrize(
    "name", ["io.sequential", "io.create", "io.fio", "io.parallel", "io.metadata"]
)
def test_commands_work_in_the_trials_folder_and_say_how_much_they_write(name):
    probe = find_probe(name)
    command = probe.command(probe.make_params({}), Layout(2, 4, 2))
    assert any("{workdir}" in part for part in command.argv)
    assert command.storage_bytes >= 1 << 20


def test_all_ranks_data_have_to_find_room():
    probe = find_probe("io.parallel")
    params = probe.make_params({"block_bytes": 1 << 20, "segments": 3})
    assert probe.command(params, Layout(2, 4, 1)).storage_bytes == 8 * 3 << 20
