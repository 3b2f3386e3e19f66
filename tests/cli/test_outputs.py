"""What a command writes: whole or not at all, where it was told, and harmless to who reads it."""

import csv
import json
import os
import resource
import subprocess
import tomllib
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
import tomli_w

from bareline.report.content.spreadsheets import csv_of_rows, harmless_cell
from bareline.report.page.preview import picture_name
from bareline.vocabulary.sanitize import escaped_json

EXPORTS = ("x.csv", "x.jsonl", "x.parquet", "x.prom", "x.openmetrics")
#: Every verb that writes a file, and the file.
WRITERS = [
    *((("export", "r", "--out", name), name) for name in EXPORTS),
    (("compare", "r", "--junit", "x.xml"), "x.xml"),
    (("report", "r", "--out", "x.html"), "x.html"),
    (("report", "r", "--out", "x.md"), "x.md"),
    (("report", "r"), "r/report.html"),
    (("compare", "r", "--json", "--out", "x.json"), "x.json"),
    (("show", "r", "--out", "x.txt"), "x.txt"),
]
RUN = ("run", "planted.toml", "--on", "a", "--on", "b", "--scale", "small", "-o", "r", "-q")


@pytest.fixture
def measured(bareline):
    bareline(*RUN)
    return bareline


@contextmanager
def files_end_at(size_bytes):
    """Let no file grow beyond a size, as `ulimit -f` does: a disk that is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def tree(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.mark.parametrize(("verb", "name"), WRITERS, ids=[" ".join(v) for v, _ in WRITERS])
def test_a_full_disk_is_said_in_a_line_and_leaves_the_old_file(measured, place, verb, name):
    """Polars raised its own error, which was a traceback; JUnit's file was written in place."""
    (place / name).write_text("the old one")
    before = tree(place)
    with files_end_at(64):
        done = measured(*verb, code=2)
    assert done.error_code in ("BL-REPORT-449", "BL-CLI-926") and "Traceback" not in done.stderr
    assert Path(name).name in done.stderr and "File too large" in done.stderr
    assert (place / name).read_text() == "the old one"
    assert tree(place) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("name", EXPORTS)
def test_a_disk_that_fills_up_meanwhile(measured, place, name):
    disk = place / "disk"
    disk.mkdir()
    size = ["-o", "size=8k"]
    mounted = subprocess.run(["mount", "-t", "tmpfs", *size, "none", disk], check=False)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        (disk / "filler").write_bytes(bytes(4096))
        with pytest.raises(OSError, match="No space"):
            (disk / "more").write_bytes(bytes(8192))
        before = tree(disk)
        done = measured("export", "r", "--out", disk / name, code=2)
        assert done.ended_by("BL-REPORT-449", "No space left on device")
        assert tree(disk) == before
    finally:
        subprocess.run(["umount", disk], check=True)


#: The refusals of a place that is a link or a pipe: by the report, its page and the command line.
_NOT_REGULAR = ("BL-REPORT-449", "BL-REPORT-140", "BL-CLI-926")


@pytest.mark.parametrize(("verb", "name"), WRITERS, ids=[" ".join(v) for v, _ in WRITERS])
@pytest.mark.timeout(60)
def test_nothing_is_written_through_a_link_or_into_a_pipe(measured, place, verb, name):
    """A run that brought the link `.report.html.part` had any file of its reader overwritten."""
    victim, target = place / "victim", place / name
    victim.write_text("mine")
    parts = [target.with_name(f".{target.name}.part"), target.with_name(f"{target.name}.part")]
    for part in parts:
        part.symlink_to(victim)
    measured(*verb)
    assert victim.read_text() == "mine"
    assert target.is_file() and not target.is_symlink()
    target.unlink()
    target.symlink_to(victim)
    assert measured(*verb, code=2).error_code in _NOT_REGULAR
    assert victim.read_text() == "mine"
    target.unlink()
    os.mkfifo(target)
    assert measured(*verb, code=2).error_code in _NOT_REGULAR


@pytest.mark.timeout(60)
def test_a_pipe_or_a_folder_under_the_name_of_a_part_is_no_obstacle(measured, place):
    os.mkfifo(place / "r" / ".report.html.part")
    measured("report", "r")
    (place / "r" / ".report.html.part").unlink()
    (place / "r" / ".report.html.part").mkdir()
    measured("report", "r")


# Texts of a stranger ------------------------------------------------------------------------------

TITLE = '=HYPERLINK("http://x","y")\u009b31m\u202e'


@pytest.fixture
def hostile(place, bareline):
    """Measure a run whose title is a formula and turns a terminal red."""
    bareline(*RUN)
    header = tomllib.loads((place / "r" / "run.toml").read_text())
    for probe in header["probe"].values():
        probe["title"] = TITLE
    for platform in header["platform"].values():
        platform["title"] = TITLE
    (place / "r" / "run.toml").write_text(tomli_w.dumps(header))
    return bareline


def test_csv_has_no_formulas_and_parquet_has_what_was_said(hostile, place):
    hostile("export", "r", "--out", "x.csv")
    with (place / "x.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    cells = [cell for row in rows for cell in row]
    assert any("HYPERLINK" in cell for cell in cells)
    assert [cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r"))] == []
    assert "\u009b" not in (place / "x.csv").read_text()
    hostile("export", "r", "--out", "x.parquet")
    assert TITLE in pl.read_parquet(place / "x.parquet")["title"].to_list()


def test_json_prints_nothing_that_a_terminal_obeys(hostile, place):
    for verb in (("show", "r"), ("compare", "r"), ("explain", "r")):
        printed = hostile(*verb, "--json").stdout
        assert not set(printed) & set("\u009b\u202e")
        json.loads(printed)
    hostile("export", "r", "--out", "x.jsonl")
    text = (place / "x.jsonl").read_text()
    assert not set(text) & set("\u009b\u202e")
    assert TITLE in {json.loads(line)["title"] for line in text.splitlines()}
    error = hostile("show", "no\u009bsuch", "--json", code=2).stderr
    assert "\u009b" not in error and "no\u009bsuch" in json.loads(error)["where"]


@pytest.mark.parametrize("text", ["\x7f", "\x80", "\x9b", "\u2028", "\u202e", "\u200f", "\ud800"])
def test_escaped_json_is_the_same_value(text):
    encoded = json.dumps({text: [text]}, ensure_ascii=False)
    assert text not in escaped_json(encoded)
    assert json.loads(escaped_json(encoded)) == {text: [text]}
    assert escaped_json('["ä", "漢", 1.5]\n') == '["ä", "漢", 1.5]\n'


@pytest.mark.parametrize(
    "cell", ["=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "-A1"]
)
def test_a_formula_gets_an_apostrophe(cell):
    assert harmless_cell(cell) == f"'{cell}".replace("\r", "\ufffd")


@pytest.mark.parametrize(
    "cell", ["-5", "+1e3", "-.5", "-3.25E-07", "-3 %", "+12%", "-2 ms", "a=b", "-", "", 1, -1.5,
             None]
)  # fmt: skip
def test_a_number_stays_a_number(cell):
    assert harmless_cell(cell) == cell


def test_both_ways_to_write_csv_agree():
    import io

    from bareline.report.content.spreadsheets import write_table

    cells = ["=1", "-5", "-3 %", "+x", "plain", "a,b", 'q"', "\x9b", "-", "", "@x\n", "\t1"]
    written = io.BytesIO()
    write_table(pl.DataFrame({"=head": cells, "n": range(len(cells))}), written)
    rows = list(csv.reader(io.StringIO(written.getvalue().decode(), newline="")))
    by_hand = csv_of_rows([["=head", "n"], *([cell, n] for n, cell in enumerate(cells))])
    assert rows == list(csv.reader(io.StringIO(by_hand, newline="")))


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://x.org/a/page.html", "page.png"),
        ("https://x.org/a/", "index.png"),
        ("", "index.png"),
        ("https://x.org/a/page", "page.png"),
        ('https://x.org/it\'s "a" page.html?x=/y#z', "it-s-a-page.png"),
        ("https://x.org/$(touch x);`y`|z.html", "touch-x-y-z.png"),
        ("https://x.org/..html", "index.png"),
        ("https://x.org/" + "a" * 300 + ".html", "a" * 100 + ".png"),
        ("https://x.org/\u009b31m\n.html", "31m.png"),
    ],
)
def test_the_picture_of_a_page_has_a_plain_name(address, name):
    assert picture_name(address) == name


def test_what_is_no_address_is_refused(measured):
    assert measured("report", "r", "--address", "https://[x/", code=2).ended_by("BL-CLI-572")


def test_json_has_null_for_a_fact_that_is_not_finite(measured, place):
    """A stranger's run, or a future fact: the rest of the rows is printed, and the place named."""
    (facts,) = (place / "r" / "facts").glob("a*.json")
    content = {**json.loads(facts.read_text()), "load.one_minute": float("inf")}
    facts.write_text(json.dumps(content))
    done = measured("show", "r", "--facts", "--json")
    rows = json.loads(done.stdout, parse_constant=pytest.fail)
    assert any(None in row.values() for row in rows)
    assert done.has_line("inf", "null")
