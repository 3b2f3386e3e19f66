"""Devices, fifos, links and endless files in place of a run's, a profile's, an output: refused."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from bareline.formats.files import read_file
from bareline.profile import journal_layout
from bareline.profile.files import parse_profile, read_profile
from bareline.profile.journal import read_journal
from bareline.profile.trace import _HEAD, _SLICE, MAGIC, read_trace
from bareline.session.intake import import_files
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BarelineError

pytestmark = pytest.mark.timeout(30)


def to_zero(place: Path) -> None:
    place.symlink_to("/dev/zero")


def to_elsewhere(place: Path) -> None:
    elsewhere = place.parent.parent.parent / f"elsewhere-{place.name}"
    elsewhere.write_text("{}\n")
    place.symlink_to(elsewhere)


def fifo(place: Path) -> None:
    os.mkfifo(place)


def folder(place: Path) -> None:
    place.mkdir()


def endless(place: Path) -> None:
    """Make a file of a terabyte that takes no room."""
    with place.open("wb") as file:
        file.truncate(1 << 40)


SPECIAL = (to_zero, to_elsewhere, fifo, folder, endless)


def everything(run: Path) -> None:
    """Read all that a run holds."""
    opened = Run.open(run)
    opened.facts()
    opened.events()
    opened.left_out()
    opened.planned()
    opened.read_predictions()
    opened.tables()
    for record in opened.records():
        opened.read_raw(record.trial)
        opened.raw_file(record.trial.index, "profile").exists()
    opened.is_being_written()


def one_line(error: BarelineError) -> None:
    assert "\n" not in str(error) and str(error).isprintable() and len(str(error)) < 1700


FILES = (
    "run.toml",
    "records.jsonl",
    "events.jsonl",
    "left_out.jsonl",
    "planned.jsonl",
    "sessions.jsonl",
    "predictions.json",
    "facts/a.json",
    "raw/000000.json",
)


@pytest.mark.parametrize(("name", "make"), list(itertools.product(FILES, SPECIAL)))
def test_what_is_no_regular_file_of_a_run_is_refused(finished, bounded, name, make):
    everything(finished.path)
    place = finished.path / name
    place.unlink(missing_ok=True)
    make(place)
    if make is folder and name == "raw/000000.json":
        return everything(finished.path)  # an output may be missing
    with pytest.raises(BarelineError) as caught:
        everything(finished.path)
    one_line(caught.value)
    assert name.rpartition("/")[2].partition(".")[0] in str(caught.value)
    return None


@pytest.mark.parametrize(("name", "code"), [("facts", "BL-STORE-259"), ("raw", "BL-STORE-508")])
def test_a_folder_of_a_run_that_is_a_link_is_not_read(finished, name, code):
    moved = finished.path.parent / "moved"
    (finished.path / name).rename(moved)
    (finished.path / name).symlink_to(moved)
    with raises(BarelineError, code, name):
        everything(finished.path)


def test_a_name_within_an_output_leads_nowhere_else(finished, tmp_path):
    """What `command.json` lists as files are names, not paths."""
    (tmp_path / "secret").write_text("secret")
    raw = finished.path / "raw"
    about = json.loads((raw / "000000.json").read_text())
    (raw / "000000.json").unlink()
    (raw / "000000" / "file.x").mkdir(parents=True)
    for name in ("stdout", "stderr"):
        (raw / "000000" / name).write_text(about.pop(name))
    about["files"] = ["x/../../../../secret"]
    (raw / "000000" / "command.json").write_text(json.dumps(about))
    assert (raw / "000000" / "file.x/../../../../secret").exists()
    trial = next(record.trial for record in finished.records() if record.trial.index == 0)
    assert finished.read_raw(trial) is None


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("records.jsonl", fifo),
        ("records.jsonl", endless),
        ("records.jsonl", to_zero),
        ("events.jsonl", fifo),
        ("events.jsonl", to_zero),
        ("sessions.jsonl", fifo),
        ("sessions.jsonl", to_zero),
        ("facts/a.json", fifo),
        ("facts/a.json", to_zero),
    ],
)
def test_a_run_is_not_written_into_what_is_no_file(make_run, execute, bounded, name, make):
    run = make_run(launches=1)
    place = run.path / name
    place.unlink(missing_ok=True)
    make(place)

    def use():
        execute(run)
        everything(run.path)

    with pytest.raises(BarelineError) as caught:
        use()
    one_line(caught.value)


# Profiles and traces ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", SPECIAL)
@pytest.mark.parametrize("read", [read_profile, read_trace, read_file])
def test_what_is_no_regular_file_is_no_profile_trace_or_output(tmp_path, bounded, read, make):
    (tmp_path / "deep" / "er").mkdir(parents=True)
    place = tmp_path / "deep" / "er" / "app.profile"
    make(place)
    with pytest.raises(BarelineError) as caught:
        read(place)
    one_line(caught.value)


def test_a_fifo_is_not_imported(tmp_path):
    fifo(tmp_path / "out")
    with raises(BarelineError, "BL-FORMATS-243"):
        import_files([tmp_path / "out"], "p", tmp_path / "run")
    assert not (tmp_path / "run").exists()


PROFILE = Path(__file__).resolve().parents[1] / "profile" / "data"


def _header(**changed):
    head = {
        "type": "profile",
        "schema": "bareline.profile",
        "version": 2,
        "complete": True,
        "mode": "plain",
        "ranks": 1,
        "nodes": 1,
        "began_unix_ns": 1,
        "mpi": "x",
        "thread_level": "single",
        "command": "a",
        "ranks_per_cell": 1,
        "regions": {"0": ""},
    }
    lines = [{**head, **changed}]
    lines.append({"type": "end", "lines": len(lines)})
    return "\n".join(map(json.dumps, lines)) + "\n"


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ranks", 1 << 31),
        ("ranks", 10**30),
        ("ranks", 0),
        ("ranks", -1),
        ("ranks", 5000),
        ("nodes", 10**30),
        ("began_unix_ns", 10**30),
        ("ranks_per_cell", 10**30),
        ("regions", {"²": "a"}),
        ("regions", {"9" * 6000: "a"}),
    ],
)
def test_numbers_of_a_profile_that_none_has_are_one_line(bounded, key, value, complete):
    with pytest.raises(BarelineError) as caught:
        parse_profile(_header(complete=complete, **{key: value}), Path("app.profile"))
    one_line(caught.value)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _shape(call=1, to=0, *, comm_size=2, size=8) -> bytes:
    """Return a record of a new shape: a send to a rank, which is its own number zigzagged."""
    zigzag = [to << 1 if to >= 0 else (-to << 1) - 1, 3, 3, 0, 0]
    return b"\0" + b"".join(map(_varint, [call, 0, *zigzag, 1, comm_size, size, size, 0]))


def _trace(stream: bytes, *, ranks=2, named=(0, 1), distance=0, used=None) -> bytes:
    head = np.zeros(1, _HEAD)
    head["magic"], head["version"], head["ranks"] = MAGIC, 1, ranks
    head["slice_size"] = distance
    head["names"] = b"compute compute\nMPI_Send send\n"
    parts = [head.tobytes().ljust(journal_layout.PIECE_BYTES, b"\0")]
    for rank in named:
        one = np.zeros(1, _SLICE)
        one["state"], one["rank"] = journal_layout.FINISHED, rank
        one["used"] = len(stream) if used is None else used
        body = one.tobytes().ljust(4096, b"\0") + stream
        parts.append(body if distance else len(body).to_bytes(8, "little") + body)
    return b"".join(parts)


TIMES = b"\1\0\1\0"


def test_a_sound_trace_of_two_is_read(tmp_path):
    path = tmp_path / "app.trace"
    path.write_bytes(base64.b64encode(_trace(_shape(to=1) + TIMES)))
    assert [s.shapes[0].to for s in read_trace(path).streams] == [1, 1]


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(_trace(_shape(to=2) + TIMES), id="to a rank that does not exist"),
        pytest.param(_trace(_shape(to=1 << 40) + TIMES), id="to a rank far away"),
        pytest.param(_trace(_shape(to=-5) + TIMES), id="to a negative rank"),
        pytest.param(_trace(_shape(comm_size=3) + TIMES), id="a larger communicator"),
        pytest.param(_trace(_shape(size=1 << 63) + TIMES), id="too many bytes"),
        pytest.param(_trace(_shape(call=99) + TIMES), id="an unknown call"),
        pytest.param(_trace(_shape() + TIMES, named=(0, 7)), id="a foreign rank"),
        pytest.param(_trace(_shape() + TIMES, ranks=(1 << 32) - 1), id="all ranks there are"),
        pytest.param(_trace(_shape() + TIMES, ranks=0), id="no rank"),
        pytest.param(_trace(_shape() + TIMES, used=(1 << 64) - 1), id="endless use"),
        pytest.param(_trace(b"\x01" * 50), id="shapes that were never told"),
    ],
)
def test_a_trace_with_impossible_numbers_is_one_line(tmp_path, bounded, content):
    path = tmp_path / "app.trace"
    path.write_bytes(base64.b64encode(content))
    with pytest.raises(BarelineError) as caught:
        read_trace(path)
    one_line(caught.value)


@pytest.mark.parametrize("distance", [1, 4096, 1 << 20, 1 << 50])
def test_a_sparse_journal_of_a_trace_ends(tmp_path, bounded, distance):
    path = tmp_path / "app.trace.journal"
    path.write_bytes(_trace(b"", ranks=(1 << 32) - 1, named=(0,), distance=distance))
    with path.open("r+b") as file:
        file.truncate(1 << 30)
    with pytest.raises(BarelineError) as caught:
        read_trace(path)
    one_line(caught.value)


@pytest.mark.parametrize(
    ("ranks", "per_cell", "cells"),
    [((1 << 32) - 1, 1, 1), (4, 0, 4), (4, 1, (1 << 32) - 1), (0, 0, 0), (4, 9, 1)],
)
def test_numbers_of_a_journal_that_none_has_are_one_line(tmp_path, bounded, ranks, per_cell, cells):
    head = np.zeros(1, journal_layout.HEAD)
    head["magic"], head["version"] = journal_layout.MAGIC, journal_layout.VERSION
    head["row_size"] = journal_layout.ROW.itemsize
    head["ranks"], head["ranks_per_cell"], head["cells"] = ranks, per_cell, cells
    path = tmp_path / "app.profile.journal"
    path.write_bytes(head.tobytes())
    with pytest.raises(BarelineError) as caught:
        read_journal(path)
    one_line(caught.value)


def test_a_line_of_records_without_end_is_refused(finished, bounded):
    with (finished.path / "records.jsonl").open("ab") as file:
        file.write(b'{"trial": "')
        for _ in range(100):
            file.write(b"x" * (1 << 20))
    for read in (lambda: list(finished.records()), finished.tables):
        with raises(BarelineError, "BL-STORE-525", "64"):
            read()
    shutil.rmtree(finished.path)
