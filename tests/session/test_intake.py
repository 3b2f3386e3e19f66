"""Importing into runs: trials, blocks, refusals, copies, raw outputs, comparisons."""

import contextlib
import errno
import gzip
import json
import os
import shutil
from pathlib import Path

import pytest

from bareline import formats
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.selection import Selection
from bareline.analysis.numbers.summary import summarize
from bareline.analysis.words.comparison import Comparison
from bareline.formats.importer import load_importers
from bareline.report.content.document import document_of
from bareline.report.content.exporting import write_samples
from bareline.report.page.files import write_report
from bareline.session import begin
from bareline.session.intake import import_files
from bareline.session.reparse import reparse_run
from bareline.session.status import status_of
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BarelineError, ImportRefused, StoreError, UsageError
from bareline.vocabulary.model import Failed

DATA = Path(__file__).parents[1] / "formats" / "data"
CONTRIB = Path(__file__).parents[2] / "packages" / "bareline-contrib" / "tests" / "data"
IB, ROCE = DATA / "ib-vs-roce" / "ib", DATA / "ib-vs-roce" / "roce"
LATENCY = "omb.Osu_latency.out"


def scaled(tmp_path, name, factor):
    """Write an osu_latency output whose times are multiplied: another launch of the same case."""
    lines = []
    for line in (IB / LATENCY).read_text().splitlines():
        if line[0].isdigit():
            size, time = line.split()
            line = f"{size:<10}{float(time) * factor:>20.2f}"
        lines.append(line + "\n")
    path = tmp_path / name
    path.write_text("".join(lines))
    return path


def test_every_importer_is_found_and_named():
    importers = load_importers()
    readers = Path(formats.__file__).parent.glob("*.py")
    ends = {file.stem for file in readers if "\nIMPORTER = " in file.read_text()}
    assert len(ends) >= 8 and set(importers) == ends
    assert all(importer.title for importer in importers.values())


def test_a_run_is_made_and_added_to(tmp_path):
    first = import_files([IB / LATENCY], "ib", tmp_path / "run", title="FDR InfiniBand")
    assert first.rows == [
        {
            "file": str(IB / LATENCY), "format": "osu", "trial": 0, "platform": "ib",
            "probe": "osu.latency", "params": "", "ranks": 2, "status": "measured",
            "reason": None, "samples": 24, "first_line": 1, "left_out": [], "ignored": [],
        }
    ]  # fmt: skip
    second = import_files([ROCE / LATENCY], "roce", tmp_path / "run")
    assert second.rows[0]["trial"] == 1
    run = Run.open(tmp_path / "run")
    assert run.header.platforms == {
        "ib": {"type": "import", "title": "FDR InfiniBand"},
        "roce": {"type": "import"},
    }
    assert run.header.baseline == "ib"
    # OSU prints no date.
    assert run.facts()["ib"] == {"import.osu": "5.6.2", "import.dated": "file"}
    assert [event.event for event in run.events()] == [
        f"1 trial imported from {LATENCY}", f"1 trial imported from {LATENCY}",
    ]  # fmt: skip


def test_one_trial_is_said_plainly(tmp_path):
    intake = import_files([IB / LATENCY], "ib", tmp_path / "run")
    assert intake.lines() == [
        "OSU micro-benchmarks 5.x to 7.x: 1 trial from 1 file",
        "cases with fewer than 6 trials: 1 of 1 (1 with one): no interval and no verdict; "
        "import more outputs of the same cases",
    ]


def test_repetitions_give_intervals_and_a_verdict(tmp_path):
    for platform, factor in (("a", 1.0), ("b", 1.5)):
        files = [
            scaled(tmp_path, f"{platform}{number}.out", factor * (1 + 0.002 * number))
            for number in range(8)
        ]
        intake = import_files(files, platform, tmp_path / "run")
        read, launches = intake.lines()  # nothing to warn of
        assert "8 trials from 8 files" in read and "rows vary by" in launches
    records = read_runs([Run.open(tmp_path / "run")])
    # Blocks are repetitions, and no block belongs to two platforms.
    assert sorted(records.trials["block"]) == list(range(16))
    row = Comparison(records, "a").table.filter(point="size_bytes=4194304").row(0, named=True)
    assert (row["n"], row["n_baseline"]) == (8, 8)
    assert row["lo"] < 1.5 < row["hi"]
    assert row["verdict"] == "slower"
    assert "unpaired" in row["caveats"]
    assert "n-too-small" not in row["caveats"]
    small, *_ = Comparison(records, "a").findings
    assert small.verdict == "slower"


def test_repetitions_of_several_cases_share_their_platforms_blocks(tmp_path):
    names = [LATENCY, "omb.Osu_bw.out", "omb.Osu_bibw.out"]
    import_files([IB / name for name in names], "ib", tmp_path / "run")
    import_files([ROCE / name for name in names], "roce", tmp_path / "run")
    import_files([scaled(tmp_path, "again.out", 1.1)], "ib", tmp_path / "run")
    blocks = [
        (record.trial.platform, record.trial.case.probe, record.trial.block)
        for record in Run.open(tmp_path / "run").records()
    ]
    assert blocks == [
        ("ib", "osu.latency", 0), ("ib", "osu.bw", 0), ("ib", "osu.bibw", 0),
        ("roce", "osu.latency", 1), ("roce", "osu.bw", 1), ("roce", "osu.bibw", 1),
        ("ib", "osu.latency", 2),
    ]  # fmt: skip


def test_a_copy_of_an_output_with_a_date_is_no_second_trial(tmp_path):
    copy = tmp_path / "copy.out"
    copy.write_bytes((IB / "imb.IMB_PingPong.out").read_bytes())
    intake = import_files([IB / "imb.IMB_PingPong.out", copy], "ib", tmp_path / "run")
    assert [row["trial"] for row in intake.rows] == [0, None]
    again = import_files([copy], "ib", tmp_path / "run")
    assert [row["trial"] for row in again.rows] == [None]
    assert "1 already there" in again.lines()[0]
    # On another platform it is another measurement.
    assert import_files([copy], "roce", tmp_path / "run").rows[0]["trial"] == 1


def test_equal_texts_of_two_files_are_two_launches_with_a_doubt(tmp_path):
    copy = tmp_path / "copy.out"
    copy.write_bytes((IB / LATENCY).read_bytes())
    intake = import_files([IB / LATENCY, copy], "ib", tmp_path / "run")
    assert [row["trial"] for row in intake.rows] == [0, 1]
    first, second = intake.run.records()
    assert not any("the same text" in caveat for caveat in first.caveats)
    assert any(f"the same text as {LATENCY}" in caveat for caveat in second.caveats)
    reparse_run(intake.run)
    assert [record.caveats for record in intake.run.records()] == [first.caveats, second.caveats]


@pytest.mark.parametrize("pack", [None, "gz", "link", "relative"])
def test_a_file_imported_twice_is_one_launch_however_it_is_named(tmp_path, pack, monkeypatch):
    original = tmp_path / "osu.out"
    original.write_bytes((IB / LATENCY).read_bytes())
    import_files([original], "ib", tmp_path / "run")
    again = original
    if pack == "gz":
        again = tmp_path / "osu.out.gz"
        again.write_bytes(gzip.compress(original.read_bytes()))
    elif pack == "link":
        again = tmp_path / "link.out"
        again.symlink_to(original)
    elif pack == "relative":
        monkeypatch.chdir(tmp_path)
        again = Path("osu.out")
    assert [row["trial"] for row in import_files([again], "ib", tmp_path / "run").rows] == [None]


def test_equal_outputs_within_one_file_are_launches(tmp_path):
    log = tmp_path / "loop.out"
    log.write_text((IB / LATENCY).read_text() * 3)
    intake = import_files([log], "ib", tmp_path / "run")
    assert [row["trial"] for row in intake.rows] == [0, 1, 2]
    assert {row["first_line"] for row in intake.rows} == {1, 27, 53}
    again = import_files([log], "ib", tmp_path / "run")
    assert [row["trial"] for row in again.rows] == [None, None, None]
    # One more launch was appended since.
    log.write_text((IB / LATENCY).read_text() * 4)
    grown = import_files([log], "ib", tmp_path / "run")
    assert [row["trial"] for row in grown.rows] == [None, None, None, 3]


def test_several_launches_in_one_file_are_trials(tmp_path):
    together = tmp_path / "loop.out"
    together.write_text(
        "".join(scaled(tmp_path, "part", 1 + 0.01 * number).read_text() for number in range(6))
    )
    intake = import_files([together], "ib", tmp_path / "run")
    assert [row["trial"] for row in intake.rows] == list(range(6))
    summary = summarize(read_runs([intake.run]))
    assert set(summary["n"]) == {6}


def test_raw_outputs_are_kept_and_read_again(tmp_path):
    files = [IB / "imb.IMB_Biband_0_25.out", IB / "hpl.Hpl_single.out", DATA / "hpcc.two-ranks.out"]
    run = import_files(files, "ib", tmp_path / "run").run
    records = list(run.records())
    assert len(records) == 4 + 1 + 10
    for record in records:
        raw = run.read_raw(record.trial)
        assert raw.argv[:2] == ("bareline", "import")
        assert raw.stdout in {file.read_text() for file in files}
    assert reparse_run(run).counts == (15, 0)
    # Spoil a kept output: reading again notices.
    stdout = run.raw_folder(records[4].trial.index) / "stdout"
    stdout.write_text(stdout.read_text().replace("PASSED", "FAILED"))
    assert reparse_run(run).counts == (15, 1)
    changed = run.finished()[records[4].trial.index]
    assert isinstance(changed.outcome, Failed)
    assert changed.outcome.code == "BL-FORMATS-756"
    assert "imported" in changed.caveats


def test_unusual_line_ends_and_bytes(tmp_path):
    text = (IB / LATENCY).read_text()
    odd = tmp_path / "odd.out"
    odd.write_bytes(
        b"\xef\xbb\xbf" + b"caf\xe9 module loaded\r\n" + text.replace("\n", "\r\n").encode()
    )
    intake = import_files([odd], "ib", tmp_path / "run")
    assert intake.rows[0]["samples"] == 24
    assert reparse_run(intake.run).counts == (1, 0)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "BL-FORMATS-365"),
        (b"  \n\n", "BL-FORMATS-365"),
        (b"hello\n", "BL-FORMATS-758"),
        (b"\x00\xff\x00" * 99, "BL-FORMATS-758"),
        (b"size latency\n8 1.02\n", "BL-FORMATS-758"),
    ],
)
def test_what_is_of_no_format_is_refused_and_nothing_is_written(tmp_path, content, code):
    bad = tmp_path / "bad.out"
    bad.write_bytes(content)
    # The hint lists the formats.
    with raises(ImportRefused, code, str(bad), "OSU micro-benchmarks"):
        import_files([IB / LATENCY, bad], "ib", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_files_that_cannot_be_read_are_refused(tmp_path):
    for path in (tmp_path / "none.out", tmp_path / "none.out" / "deeper"):
        with raises(ImportRefused, "BL-FORMATS-429"):
            import_files([path], "ib", tmp_path / "run")


def test_two_programs_in_one_file_are_split(tmp_path):
    both = tmp_path / "both.out"
    both.write_text((IB / LATENCY).read_text() + (IB / "imb.IMB_PingPong.out").read_text())
    intake = import_files([both], "ib", tmp_path / "run")
    assert [(row["format"], row["first_line"]) for row in intake.rows] == [("osu", 1), ("imb", 28)]
    assert not intake.incomplete


def test_imb_without_a_benchmark_is_refused(tmp_path):
    torn = tmp_path / "torn.out"
    torn.write_text("\n".join((IB / "imb.IMB_PingPong.out").read_text().splitlines()[:8]))
    with raises(ImportRefused, "BL-FORMATS-617"):
        import_files([torn], "ib", tmp_path / "run")


@pytest.mark.parametrize("name", ["", "a b", "../up", "-x", "ä"])
def test_impossible_platform_names_are_refused(tmp_path, name):
    with raises(UsageError, "BL-SESSION-502"):
        import_files([IB / LATENCY], name, tmp_path / "run")


def test_measured_runs_are_left_alone(tmp_path, null_study, null_platforms):
    measured = begin.create_run(
        null_study(), null_platforms(a={}), tmp_path / "measured", baseline="a"
    )
    before = (measured.path / "run.toml").read_bytes()
    with raises(UsageError, "BL-SESSION-356"):
        import_files([IB / LATENCY], "ib", measured.path)
    assert (measured.path / "run.toml").read_bytes() == before


def test_an_imported_run_has_nothing_to_run(tmp_path):
    run = import_files([IB / LATENCY], "ib", tmp_path / "run").run
    with raises(UsageError, "BL-SESSION-963"):
        status_of(run)


def test_torn_and_failed_outputs_are_failed_trials(tmp_path):
    torn = tmp_path / "torn.out"
    torn.write_text((IB / LATENCY).read_text()[:-3])
    died = tmp_path / "died.out"
    died.write_text(
        (IB / "omb.Osu_bw.out").read_text()[:300]
        + "\nmpirun noticed that process rank 1 with PID 4711 on node n2 exited on signal 9.\n"
    )
    intake = import_files([torn, died], "ib", tmp_path / "run")
    assert intake.failed == 2
    reasons = {row["probe"]: row["reason"] for row in intake.rows}
    assert "exited on signal 9" in reasons["osu.bw"]
    records = list(intake.run.records())
    assert {record.outcome.code for record in records} == {"BL-FORMATS-382", "BL-FORMATS-874"}
    assert {record.outcome.stage for record in records} == {"parse"}
    assert sum(line.startswith("failed: ") for line in intake.lines()) == 2


def test_a_failed_side_shows_in_comparison_and_words(tmp_path):
    torn = tmp_path / "torn.out"
    torn.write_text((ROCE / LATENCY).read_text()[:-3])
    import_files([IB / LATENCY, IB / "omb.Osu_bw.out"], "ib", tmp_path / "run")
    import_files([torn, ROCE / "hpl.Hpl_single.out"], "roce", tmp_path / "run")
    records = read_runs([Run.open(tmp_path / "run")])
    rows = Comparison(records, "ib").table.filter(headline=True)
    verdicts = {(row["probe"], row["verdict"]) for row in rows.iter_rows(named=True)}
    assert verdicts == {("osu.latency", "failed"), ("osu.bw", "missing"), ("hpl", "missing")}
    told = " ".join(statement.text for statement in Comparison(records, "ib").statements)
    assert "failed: MPI latency (osu_latency) on roce" in told
    assert "not measured on both: the HPL rate on roce (ib has no figure)" in told


def test_a_page_of_imported_runs(tmp_path):
    for fabric, folder in (("ib", IB), ("roce", ROCE)):
        files = [folder / name for name in (LATENCY, "imb.IMB_PingPong.out", "hpl.Hpl_single.out")]
        run = import_files(files, fabric, tmp_path / "run").run
    page = tmp_path / "page.html"
    write_report(document_of(Comparison(read_runs([run]))), page)
    text = page.read_text()
    assert "imported from an existing output" in text
    assert "osu.latency" in text or "osu_latency" in text


def test_a_damaged_run_is_named(tmp_path):
    run = import_files([IB / LATENCY], "ib", tmp_path / "run").run
    (run.path / "run.toml").write_text("schema = [")
    with raises(BarelineError, "BL-STORE-641", "run.toml"):
        import_files([ROCE / LATENCY], "roce", run.path)


def test_rows_are_json(tmp_path):
    intake = import_files([DATA / "fio.randrw.out"], "disk", tmp_path / "run")
    assert json.loads(json.dumps(intake.rows)) == intake.rows


def test_all_files_of_no_known_format_are_named_at_once(tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    (tmp_path / "b.txt").write_text("")
    with raises(ImportRefused, "BL-FORMATS-517", "2", "a.txt", "b.txt", "--skip-unknown"):
        import_files([tmp_path, IB / LATENCY], "ib", tmp_path / "run")
    assert not (tmp_path / "run").exists()
    intake = import_files([tmp_path, IB / LATENCY], "ib", tmp_path / "run", skip_unknown=True)
    assert [file.name for file in intake.skipped] == ["a.txt", "b.txt"]
    assert len(intake.rows) == 1
    assert any("a.txt" in line for line in intake.lines())


def test_nothing_known_is_refused_even_when_unknown_files_are_skipped(tmp_path):
    (tmp_path / "a.txt").write_text("hello\n")
    with raises(ImportRefused, "BL-FORMATS-758", "a.txt"):
        import_files([tmp_path / "a.txt"], "ib", tmp_path / "run", skip_unknown=True)


def test_folders_and_compressed_files(tmp_path):
    inside = tmp_path / "outputs" / "deep"
    inside.mkdir(parents=True)
    (inside / "latency.gz").write_bytes(gzip.compress((IB / LATENCY).read_bytes()))
    (tmp_path / "outputs" / "init.out").write_text("nprocs: 4, min: 505, max: 612, avg: 530\n")
    intake = import_files([tmp_path / "outputs"], "ib", tmp_path / "run")
    assert [row["probe"] for row in intake.rows] == ["osu.latency", "osu.init"]
    torn = tmp_path / "torn.gz"
    torn.write_bytes((inside / "latency.gz").read_bytes()[:-20])
    with raises(ImportRefused, "BL-FORMATS-281", "gzip"):
        import_files([torn], "ib", tmp_path / "run")
    (tmp_path / "none").mkdir()
    with raises(ImportRefused, "BL-FORMATS-743"):
        import_files([tmp_path / "none"], "ib", tmp_path / "run")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("bareline.formats.files._LARGEST_FILE_BYTES", 1 << 16)
    bomb = tmp_path / "bomb.gz"
    bomb.write_bytes(gzip.compress(b" " * (1 << 20)))
    with raises(ImportRefused, "BL-FORMATS-276"):
        import_files([bomb], "ib", tmp_path / "run")


def test_the_date_inside_an_output_is_when_it_started(tmp_path):
    import_files([DATA / "imb.v2021_options.out"], "ib", tmp_path / "run")
    (record,) = Run.open(tmp_path / "run").records()
    assert record.started == "2026-11-22T12:11:39.000+00:00"


def test_outputs_that_name_their_platform_are_sorted_by_it(tmp_path):
    report = DATA / "reframe.report.out"
    intake = import_files([report], None, tmp_path / "run")
    places = {"bench-login-gnu": 2, "bench-login-builtin": 2, "bench-compute-gnu": 2}
    assert {name: sum(row["platform"] == name for row in intake.rows) for name in places} == places
    run = Run.open(tmp_path / "run")
    assert run.header.platforms["bench-compute-gnu"]["title"] == "bench:compute+gnu"
    assert all(row["trial"] is None for row in import_files([report], None, run.path).rows)
    reread = reparse_run(run)
    assert (reread.read, reread.changed, reread.unread) == (6, [], [])


@pytest.mark.parametrize(
    ("name", "samples", "first"),
    [
        ("reframe.report.out", 12, ("rate", 24366.78827876281e6, "B/s")),
        ("reframe.perflog.out", 8, ("rate", 24366.78827876281e6, "B/s")),
        ("hyperfine.named.out", 24, ("time", 0.012646433, "s")),
        (CONTRIB / "googlebench.repetitions.out", 19, ("time", 7.0575169823632713e-9, "s")),
        (CONTRIB / "asv.sorting.out", 11, ("memory", 24674304, "B")),
        ("composed/ior.v4_posix.out", 10, ("bandwidth", 800 * 2**20, "B/s")),
        ("composed/mdtest.v4_three-iterations.out", 10, ("directory_creation", 5051.904, "op/s")),
        (CONTRIB / "composed/ramble.three-repeats.out", 9, ("Total_time", 4.21, "s")),
    ],
)
def test_what_frameworks_measured_is_exported(tmp_path, contrib, name, samples, first):
    own = Path(name).name.startswith(("reframe", "asv"))
    run = import_files([DATA / name], None if own else "node07", tmp_path / "run").run
    table = tmp_path / "table.jsonl"
    assert write_samples(read_runs([run]), table, Selection()) == samples
    row = json.loads(table.read_text().splitlines()[0])
    assert (row["metric"], row["unit"]) == (first[0], first[2])
    assert row["value"] == pytest.approx(first[1])


def test_one_name_for_several_platforms_or_none_for_one_is_refused(tmp_path):
    with raises(UsageError, "BL-SESSION-214", "3"):
        import_files([DATA / "reframe.report.out"], "cluster", tmp_path / "run")
    with raises(UsageError, "BL-SESSION-118"):
        import_files([IB / LATENCY], None, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_every_run_of_hyperfine_is_a_trial_even_those_that_took_equally_long(tmp_path):
    times = [0.25, 0.25, 0.25, 0.5, 0.5, 0.25]
    summary = {"mean": sum(times) / 6, "median": 0.25, "min": 0.25, "max": 0.5}
    result = {"command": "true", **summary, "times": times, "exit_codes": [0] * 6}
    file = tmp_path / "hyperfine.json"
    file.write_text(json.dumps({"results": [result]}))
    intake = import_files([file], "here", tmp_path / "run")
    assert [row["trial"] for row in intake.rows] == list(range(6))
    assert reparse_run(intake.run).counts == (6, 0)


def test_a_check_that_failed_first_takes_its_metrics_from_one_that_did_not(tmp_path):
    content = json.loads((DATA / "reframe.report.out").read_text())
    cases = content["runs"][0]["testcases"]
    cases[0] |= {"result": "fail", "fail_phase": "compile", "perfvalues": {}}
    file = tmp_path / "report.json"
    file.write_text(json.dumps(content))
    run = import_files([file], None, tmp_path / "run").run
    assert list(run.header.probes["reframe.copy_speed"]["metrics"]) == ["rate", "time"]
    assert run.header.probes["reframe.copy_speed"]["headline"] == "rate"


def test_a_name_that_a_run_refuses_is_shortened(tmp_path, contrib):
    content = json.loads((CONTRIB / "googlebench.plain.out").read_text())
    long = "BM_run<" + "std::pair<int, double>, " * 20
    for number, row in enumerate(content["benchmarks"]):
        row["name"] = row["run_name"] = f"{long}{number}>"
    file = tmp_path / "long.out"
    file.write_text(json.dumps(content))
    import_files([IB / LATENCY], "ib", tmp_path / "run")
    import_files([file], "ib", tmp_path / "run")
    again = import_files([file], "ib", tmp_path / "run")
    assert {row["trial"] for row in again.rows} == {None}
    run = Run.open(tmp_path / "run")
    names = {record.trial.case.probe for record in run.records()}
    assert len(names) == 1 + len(content["benchmarks"]) == len(run.header.probes)
    assert reparse_run(run).counts == (len(names), 0)


@pytest.mark.parametrize("which", [1, 2, 3, 4])
def test_an_import_that_ends_at_a_rename_begins_anew(which, tmp_path, monkeypatch):
    kept = os.replace
    places = []

    def fail(source, target, **more):
        places.append(target)
        if len(places) == which:
            raise OSError(errno.EIO, "Input/output error")
        return kept(source, target, **more)

    monkeypatch.setattr(os, "replace", fail)
    with contextlib.suppress(StoreError):
        import_files([IB / LATENCY], "ib", tmp_path / "run")
    monkeypatch.undo()
    import_files([IB / LATENCY], "ib", tmp_path / "run")
    run = Run.open(tmp_path / "run")
    assert len(list(run.records())) == 1 and run.facts()["ib"]


def test_a_copy_is_no_second_trial_where_raw_was_lost(tmp_path):
    import_files([IB / LATENCY], "ib", tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "raw")
    (tmp_path / "run" / "raw").mkdir()
    again = import_files([IB / LATENCY], "ib", tmp_path / "run")
    assert [row["trial"] for row in again.rows] == [None]


def test_half_a_character_in_an_output_is_replaced(tmp_path, contrib):
    text = (CONTRIB / "composed" / "ramble.three-repeats.out").read_text()
    for number, name in enumerate(("osu-micro-benchmarks.osu_latency.two_nodes", "Message Size")):
        file = tmp_path / "half.out"
        file.write_text(text.replace(name, "\\ud800"))
        run = import_files([file], "x", tmp_path / str(number)).run
        assert list(run.records())
        assert reparse_run(run, dry_run=True).unread == []


def test_raw_output_that_cannot_be_read_is_not_called_lost(tmp_path, monkeypatch):
    run = import_files([IB / LATENCY], "ib", tmp_path / "run").run

    def fail(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("bareline.store.raw.read_bounded", fail)
    with raises(StoreError, "BL-STORE-508", "Input/output"):
        reparse_run(run)


def test_an_error_of_an_import_names_the_import(tmp_path):
    run = import_files([IB / LATENCY], "ib", tmp_path / "run").run
    told = str(run.unwritable(OSError(errno.ENOSPC, "No space left on device")))
    assert "the same `bareline import`" in told and "continue" not in told
