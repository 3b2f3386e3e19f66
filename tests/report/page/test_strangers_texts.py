"""Texts that no page and no drawing can hold, and drawing where there is no room for it."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import tomli_w

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.platforms.config import platforms_from_toml
from bareline.report.content.document import document_of
from bareline.report.figures.svg import draw, for_file, to_png
from bareline.report.figures.vega import layer
from bareline.report.page.files import default_page, write_figures, write_report
from bareline.report.page.html import render_page
from bareline.session import begin, runner
from bareline.store.run import Run
from bareline.study.study import study_from_toml
from bareline.testing.messages import raises
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.sanitize import cleaned

UNFIT = "\x00\x01\x08\x0b\x1b\x7f\x85\x9b\u202e\u2066\ufdd0\ufffe\uffff"


@pytest.mark.parametrize("sign", UNFIT)
def test_no_drawing_ends_the_process(sign):
    chart = layer("text", [{"a": f"x{sign}y"}], text="a") | {"title": f"t{sign}"}
    drawing = draw(chart)
    ElementTree.fromstring(drawing)
    assert to_png(for_file(drawing, [f"note {sign}"]))


def test_what_is_fit_stays_as_it_is():
    text = "Größe µs \n\t 数 \U0001f600 <b>"
    assert cleaned(text) == text


@pytest.fixture
def unfit(tmp_path):
    """Give a run whose every text holds what XML cannot, as a stranger may send it."""
    study = {
        "study": {"name": "s", "title": f"t{UNFIT}", "launches": 6, "precision": 0},
        "measure": [{"probe": "null", "params": {"points": 2}}],
        "exhibit": [{"kind": "table", "title": f"e{UNFIT}", "caption": UNFIT, "probe": "null"}],
    }
    tables = {n: {"type": "null", "title": f"{n}{UNFIT[1:]}"} for n in ("a", "b")}
    specs = list(platforms_from_toml({"platform": tables}, where="t").values())
    run = begin.create_run(study_from_toml(study, where="t"), specs, tmp_path / "run", baseline="a")
    runner.execute(run, SilentObserver())
    run.write_facts("a", {"cpu.model": f"m{UNFIT}", "os.kernel": "1"})
    run.append_event("b", f"said {UNFIT}")
    return run


def test_a_page_of_such_texts_is_written(unfit, tmp_path):
    header = (unfit.path / "run.toml").read_text()
    # Names and units, too: what checks them when a run is made is not there when it comes by mail.
    name = tomli_w.dumps({"b\x01\uffff": 1}).partition(" = ")[0]
    header = header.replace("[platform.b]", f"[platform.{name}]")
    (unfit.path / "run.toml").write_text(header)
    for file in unfit.path.glob("*.jsonl"):
        lines = file.read_text().replace('"platform": "b"', '"platform": "b\\u0001\uffff"')
        file.write_text(lines)
    document = document_of(Comparison(read_runs([Run.open(unfit.path)])))
    assert cleaned(render_page(document)) == render_page(document)
    write_figures(document, tmp_path / "figures")
    for form in ("html", "md"):
        text = write_report(document, tmp_path / f"page.{form}", form).read_text()
        assert cleaned(text) == text and "�" in text


@pytest.mark.parametrize("gib", [2, 8, 33])
def test_a_report_is_written_where_addresses_are_few(unfit, gib):
    limit = (gib << 30, resource.getrlimit(resource.RLIMIT_AS)[1])
    done = subprocess.run(
        [sys.executable, "-m", "bareline", "report", unfit.path, "--verbose"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "[BL-CLI-510]" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    page = (unfit.path / "report.html").read_text()
    assert 'role="img"' not in page and "<table" in page


@pytest.mark.parametrize("how", ["link", "folder"])
def test_a_page_is_not_written_through_what_a_run_brings(unfit, tmp_path, how):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    place = unfit.path / "report.html"
    place.symlink_to(victim) if how == "link" else place.mkdir()
    with raises(StoreError, "BL-REPORT-140"):
        default_page(unfit.path, "html")
    assert victim.read_text() == "mine"


def _page_of(path, old, new):
    header = (path / "run.toml").read_text()
    assert old in header
    (path / "run.toml").write_text(header.replace(old, new))
    return render_page(document_of(Comparison(read_runs([Run.open(path)]))))


def test_publications_of_a_later_bareline_are_named_among_the_gaps(unfit):
    role = '[role.first]\nplatform = "b"\npublished = ["later:table-9"]\n'
    page = _page_of(unfit.path, "[platform.b]", f"[study.role.first]\n{role[13:]}[platform.b]")
    assert "publication &#39;later&#39;, unknown to this bareline" in page


def test_long_titles_are_cut(unfit):
    page = _page_of(unfit.path, 'title = "t', f'title = "{"y" * 20_000}')
    assert "y" * 150 + "…y" in page
    assert "y" * 200 not in page


def test_long_parameters_are_cut(unfit):
    file = unfit.path / "records.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines[len(lines) // 2 :]:
        line["params"] = f"a={'y' * 9000}"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    page = _page_of(unfit.path, "seed", "seed")
    assert f"{'y' * 150}…{'y' * 49}" in page
    shown = re.sub(r'<(script|template)[^>]*type="application.*?</\1>', "", page, flags=re.S)
    assert "y" * 200 not in shown


def test_long_names_are_refused(unfit):
    with raises(StoreError, "BL-STORE-641", "200"):
        _page_of(unfit.path, "[platform.b]", f"[platform.{'b' * 201}]")


def test_a_report_without_room_for_tables_is_one_line(unfit):
    limit = (900 << 20, resource.getrlimit(resource.RLIMIT_AS)[1])
    done = subprocess.run(
        [sys.executable, "-m", "bareline", "report", unfit.path, "--verbose"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "[BL-REPORT-888]" in done.stderr
    assert "0.879 GiB" in done.stderr and "1024 MiB" in done.stderr
    assert len(done.stderr.splitlines()) == 1
