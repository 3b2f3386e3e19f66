"""docs/reference/life-of-a-number.md: a planted number goes through every step that it names."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.platforms.config import choose_platforms
from bareline.report.content.document import document_of
from bareline.report.page.files import write_report
from bareline.session import begin, runner
from bareline.study.reading import load_study
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.verdicts import Verdict

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "bareline"
PAGE = ROOT / "docs" / "reference" / "life-of-a-number.md"

STUDY = """
[study]
name = "life"
launches = 6
precision = 0

[app.life]
command = ["sh", "-c", "echo rate $RATE MB/s"]
mpi = false
verify = ["rate > 0"]

[app.life.metrics.rate]
regex = 'rate (\\S+) MB/s'
scale = 1e6
unit = "B/s"
better = "higher"

[[measure]]
probe = "app.life"
"""
PLATFORMS = """
[platform.bare]
type = "local"
environment = { RATE = "437.5" }

[platform.virtual]
type = "local"
environment = { RATE = "125" }
"""

Place = tuple[str, str]


def named() -> list[Place]:
    """Return the files and functions of the page, in its order."""
    rows = [line for line in PAGE.read_text().splitlines() if re.match(r"\| \d+ \|", line)]
    return [place for row in rows for place in re.findall(r"`([\w/]+\.py)`: `([\w.]+)`", row)]


@contextmanager
def called() -> Iterator[dict[Place, int]]:
    """Note when each function of bareline was first called."""
    found: dict[Place, int] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCES)):
            place = (str(Path(code.co_filename).relative_to(SOURCES)), code.co_qualname)
            found.setdefault(place, len(found))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


@pytest.fixture(scope="module")
def life(tmp_path_factory):
    """Run the study of the page, and give all that comes of it."""
    folder = tmp_path_factory.mktemp("life")
    (folder / "study.toml").write_text(STUDY)
    (folder / "platforms.toml").write_text(PLATFORMS)
    with called() as found:
        study = load_study(folder / "study.toml")
        specs = choose_platforms(["bare", "virtual"], folder / "platforms.toml")
        run = begin.create_run(study, specs, folder / "run", baseline="bare")
        runner.execute(run, SilentObserver())
        comparison = Comparison(read_runs([run]))
        # Each is made when it is first asked for: here in the order of the page.
        summary, points, cells = comparison.summary, comparison.points, comparison.cells
        findings, statements, glance = (
            comparison.findings, comparison.statements, comparison.glance,
        )  # fmt: skip
        document = document_of(comparison)
        page = write_report(document, folder / "page.html").read_text()
    return locals()


def test_every_file_and_function_of_the_page_is_there():
    assert len(named()) > 25
    for file, function in named():
        tree: ast.AST = ast.parse((SOURCES / file).read_text())
        for part in function.split("."):
            names = {
                node.name: node
                for node in ast.iter_child_nodes(tree)
                if isinstance(node, ast.ClassDef | ast.FunctionDef)
            }
            assert part in names, f"{file} has no {function}"
            tree = names[part]


def test_the_number_goes_through_them_in_that_order(life):
    order = [life["found"].get(place) for place in named()]
    assert [place for place, at in zip(named(), order, strict=True) if at is None] == []
    assert order == sorted(order)


def test_the_number_is_at_each_step_what_the_page_says(life):
    run, text = life["run"], PAGE.read_text()
    trial = next(record.trial for record in run.records() if record.trial.platform == "bare")
    output = run.read_raw(trial)
    assert output.stdout == "rate 437.5 MB/s\n"
    assert "`rate 437.5 MB/s`" in text
    lines = [json.loads(line) for line in (run.path / "records.jsonl").read_text().splitlines()]
    printed = {line["platform"]: line["samples"][0]["value"] for line in lines}
    assert printed == {"bare": 437500000.0, "virtual": 125000000.0}
    assert text.count("437500000.0") == 3
    row = life["summary"].row(by_predicate=_at("bare"), named=True)
    assert (row["value"], row["n"]) == (437500000.0, 6)
    row = life["points"].row(by_predicate=_at("virtual"), named=True)
    assert row["ratio"] == pytest.approx(3.5) and "ratio 3.5" in text
    cell = next(cell for cell in life["cells"] if cell.platform == "virtual" and cell.headline)
    assert cell.ratio.value == pytest.approx(3.5)
    assert cell.verdict is Verdict.SLOWER
    (finding,) = life["findings"]
    assert finding.worst.ratio.value == pytest.approx(3.5)
    for said in (life["statements"][0].text, life["glance"].headline.text, text):
        (times,) = set(re.findall(r"([\d.]+) times lower", said))
        assert float(times) == pytest.approx(3.5, abs=0.01)
    assert any(one.platform == "bare" for one in life["document"].cells)
    for shown in ("438 MB/s", "3.50"):
        assert shown in text and shown in life["page"]


def _at(platform):
    import polars as pl

    return (pl.col("platform") == platform) & (pl.col("metric") == "rate")
