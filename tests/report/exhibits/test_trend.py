"""Runs over nights as a figure: the step that was planted, where it was planted."""

import pytest

from bareline.analysis.judgements.timeline import trend_of
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.content.document import document_of
from bareline.report.exhibits.base import find_exhibit
from bareline.store.run import Run
from bareline.testing.runs import planted_run
from bareline.vocabulary.exhibit import ExhibitSpec

from .drawn import rows_of

TREND = find_exhibit("trend")
SPEC = ExhibitSpec(kind="trend", probe="null")
TURN, NIGHTS = 7, 14


@pytest.fixture(scope="module")
def nights(tmp_path_factory):
    """Fourteen nights of a study, one of another beside them; platform b is slower from TURN on."""
    folder = tmp_path_factory.mktemp("nights")

    def measure(stem, day, factor, **head):
        platforms = {"a": {"seed": day}, "b": {"seed": 100 + day, "factor": factor}}
        run = planted_run(folder / stem, platforms, {"points": 2, "spread": 0.01}, **head)
        text = (run.path / "run.toml").read_text()
        changed = text.replace(run.header.created, f"2026-03-{day + 1:02}T03:00:00+00:00")
        (run.path / "run.toml").write_text(changed)
        return Run.open(run.path)

    measure("other", 0, 1.0, name="another")
    return [measure(f"{day:02}", day, 1.2 if day >= TURN else 1.0) for day in range(NIGHTS)]


def document(*runs):
    records = read_runs(runs)
    return document_of(Comparison(records, records.platforms[0]))


def test_the_step_is_drawn_where_it_was_made_on_its_platform_alone(nights):
    (figure,) = TREND.figures(document(nights[-1]), SPEC)
    assert len(figure.panels) == 2
    rows = rows_of(figure.panels)
    marks = [row for row in rows if "tip" in row]
    assert len({row["x"] for row in marks}) == NIGHTS
    assert {row["text"] for row in rows if "worse" in row.get("text", "")} == {"1.20× worse"}
    # No line joins the two levels of b; that of a is whole.
    stretches = {row["stretch"] for row in rows if "tip" in row}
    assert stretches >= {"a 0", "b 0", "b 1"} and "a 1" not in stretches
    table = figure.data_table
    assert table is not None
    since = {row[1].text: row[4].text for row in table.rows}
    assert since == {"a": "–", "b": "2026-03-08 (07)"}
    assert "planted.factor: 1.0 → 1.2" in {field.text for row in table.rows for field in row}
    assert "worse since 2026-03-08 (07)" in figure.text_summary


def test_runs_that_are_given_are_the_history(nights):
    (figure,) = TREND.figures(document(*nights[:TURN]), SPEC)
    assert "no certain change, 8 runs are needed to decide" in figure.text_summary
    (before,) = TREND.figures(document(nights[TURN - 1]), SPEC)
    assert before.text_summary == figure.text_summary  # what came later is not its history


def test_one_platform_is_asked_for(nights):
    spec = SPEC.model_copy(update={"where": {"platform": "a", "point": 1}})
    (figure,) = TREND.figures(document(nights[-1]), spec)
    assert {row["platform"] for row in figure.data} == {"a"}
    assert len(figure.panels) == 1


def test_the_margin_is_the_studys(nights, tmp_path):
    assert trend_of([run.path for run in nights]).margin == 0.02
    wide = [planted_run(tmp_path / name, margin=0.5).path for name in "xy"]
    assert trend_of(wide).margin == 0.5
    assert trend_of(wide, 0.1).margin == 0.1
