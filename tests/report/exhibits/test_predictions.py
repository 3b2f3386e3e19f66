"""Predictions on the page: kept in the run directory, read back, drawn, or left out."""

from __future__ import annotations

import html
import io
import json
import re
from dataclasses import replace
from functools import reduce

import pytest
from rich.console import Console

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.predict.curves.coverage import CurveCoverage, SizeUsed
from bareline.predict.questions import Upgrade
from bareline.predict.shares import InputShare, LossSplit
from bareline.predict.validation.predictions import (
    VERSION,
    ApplicationLoss,
    Predictions,
    read_predictions_of,
)
from bareline.predict.validation.scores import Trial, Validation
from bareline.predict.validation.wrong import WrongTerm
from bareline.report.content.document import document_of
from bareline.report.exhibits.base import find_exhibit
from bareline.report.exhibits.page_figures import draw_figures
from bareline.report.figures.svg import draw
from bareline.report.page.files import render_markdown
from bareline.report.page.html import render_page
from bareline.report.terminal.predictions import loss_blocks
from bareline.report.writers.terminal import print_blocks
from bareline.testing.messages import raises
from bareline.testing.runs import planted_run
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.exhibit import ExhibitSpec

KINDS = ("predicted", "worst-predictions", "upgrades", "waterfall", "coverage")


def trial(
    application, base, platform, predicted, measured, *, lo=None, hi=None, reasons=(), term=None
):
    return Trial(application, base, platform, "replay", 1.0, predicted, measured,
                 (measured,) * 3, 0.0, lo, hi, (), reasons, term=term)  # fmt: skip


def planted() -> Predictions:
    trials = (
        trial("npb.cg problem_class=W", "a", "b", 2.0, 2.1, lo=1.8, hi=2.2),
        trial(
            "npb.cg problem_class=W",
            "b",
            "a",
            1.3,
            1.0,
            lo=1.1,
            hi=1.5,
            reasons=("a disk",),
            term=WrongTerm("messages up to 512 B", 0.5, 0.2, 0.3),
        ),
        trial("npb.mg problem_class=W", "a", "b", 0.5, 0.51),
    )
    shares = (
        InputShare("latency", 0.7, 0.6, 0.8, 0.7),
        InputShare("bandwidth", 0.2, 0.1, 0.3, 0.2),
        InputShare("residual", 0.1, 0.0, 0.2, 0.1),
    )
    loss = LossSplit("a", "b", (1.0,) * 3, (2.0,) * 3, 1.0, shares)
    return Predictions(
        VERSION,
        Validation(trials, (("npb.is", "no ladder"),), 2),
        (ApplicationLoss("npb.cg problem_class=W", loss),),
        (
            Upgrade("npb.cg problem_class=W", "b", "latency=x0.5", 2.0, 1.5),
            Upgrade("npb.cg problem_class=W", "b", "bandwidth=x2", 2.0, 1.9),
            Upgrade("npb.mg problem_class=W", "b", "bandwidth=x2", 0.5, 0.49),
        ),
        (
            CurveCoverage("npb.cg problem_class=W", "mpi.pingpong", 2,
                  (SizeUsed(8, 10, 0.1), SizeUsed(9000, 5, 0.2)), (1.0, 1024.0, 8192.0),
                  1.0, 8192.0),
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return planted_run(tmp_path_factory.mktemp("predicted") / "run", launches=3)


@pytest.fixture(scope="module")
def document(run):
    run.write_predictions(planted().to_json())
    return document_of(Comparison(read_runs([run])))


def figures(document, kind, probe=None):
    return find_exhibit(kind).figures(document, ExhibitSpec(kind=kind, probe=probe))


def test_what_is_kept_is_read_back_whole(run):
    run.write_predictions(planted().to_json())
    assert read_predictions_of(run.read_predictions(), run.path) == planted()
    run.write_predictions('{"version": 1, "validation": 7}')
    with raises(StoreError, "BL-PREDICT-343"):
        read_predictions_of(run.read_predictions(), run.path)
    # Of another version nothing is shown: it is written again on demand.
    run.write_predictions(replace(planted(), version=VERSION + 1).to_json())
    assert read_predictions_of(run.read_predictions(), run.path) is None
    run.write_predictions(planted().to_json())


def test_what_0_1_0_kept_is_still_shown(run):
    """A loss had a share of what starting takes longer, and said how long that was."""
    content = json.loads(planted().to_json())
    loss = content["losses"][0]["loss"]
    loss["start_up_s"] = 0.05
    for trial in content["validation"]["trials"]:
        for name in ("launches", "ladder", "residual", "term"):
            del trial[name]
        trial["drawn"] = 0.02
    loss["shares"].insert(
        2, {"input": "start-up", "time_s": 0.05, "lo_s": 0.05, "hi_s": 0.05, "share": 0.05}
    )
    run.write_predictions(json.dumps(content))
    document = document_of(Comparison(read_runs([run])))
    run.write_predictions(planted().to_json())
    assert not document.undrawn and document.predictions
    (kept,) = document.predictions.losses
    assert [share.title for share in kept.loss.shares][2:] == ["start-up", "not explained"]
    assert all(figures(document, kind) for kind in KINDS)


def spoiled(*path, value=None):
    """Give what is kept with one value replaced, or removed."""
    content = json.loads(planted().to_json())
    *above, last = path
    place = reduce(lambda one, key: one[key], above, content)
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(content)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (spoiled("upgrades", 0, "change", value="luck=x2"), "'luck=x2' is not one of the changes"),
        (spoiled("losses", 0, "loss", "shares", 2), "shares of a loss"),
        (spoiled("upgrades", 0, "base_s", value=0), "one of the times is not above 0"),
        (spoiled("validation", "trials", 0, "truth_s", value=0), "one of the times is not above 0"),
        (spoiled("validation", "trials", 0, "time_s", value=1e999), "not finite"),
        (spoiled("validation", "trials", 0, "platform", value="moon"), "'moon'</div></li>"),
        (spoiled("losses", 0, "loss", "measured_a", value=[]), "lacks the measured times"),
        (spoiled("strips", 0, "most"), "strips.0.most"),
    ],
)
def test_predictions_that_cannot_be_drawn_are_a_gap_of_the_page(text, said, run):
    run.write_predictions(text)
    document = document_of(Comparison(read_runs([run])))
    run.write_predictions(planted().to_json())
    assert all(figures(document, kind) == [] for kind in KINDS)
    assert said in html.unescape(render_page(document)) and document.undrawn


def test_nothing_predicted_shows_nothing(document):
    plain = replace(document, predictions=None)
    assert all(figures(plain, kind) == [] for kind in KINDS)
    assert 'id="predictions"' not in render_page(plain)


def test_a_page_of_a_run_with_predictions_shows_all_of_them(document):
    drawn, empty = draw_figures(document)
    assert not empty
    own = [figure.id for figure in drawn if figure.layer == "predictions"]
    assert own == [
        "predicted", "predicted-models", "worst-predictions", "upgrades",
        "waterfall-npb-cg-problem-class-w", "coverage-npb-cg-problem-class-w",
    ]  # fmt: skip
    page = render_page(document)
    assert 'id="predictions"' in page and 'href="#predictions"' in page
    assert "A disk" in page
    assert "## Predictions" in render_markdown(document)


def test_a_measured_time_outside_of_its_interval_is_marked(document):
    table = figures(document, "predicted")[0].data_table
    tones = {(row[0].text.split()[0], row[1].text): row[-2].tone for row in table.rows}
    assert tones == {("npb.cg", "a"): "", ("npb.cg", "b"): "worse", ("npb.mg", "a"): ""}
    terms = [row[-1].text for row in table.rows]
    assert terms == ["", "messages up to 512 B (+30.0% of the time)", ""]
    assert "3 predictions" in figures(document, "predicted")[0].text_summary


def test_the_worst_case_stands_first_with_its_reason(document):
    rows = figures(document, "worst-predictions")[0].data_table.rows
    assert [row[5].text for row in rows] == ["+30.0%", "-4.8%", "-2.0%"]
    assert rows[0][-1].text == "A disk"


def test_upgrades_are_ranked_and_the_best_of_each_case_is_named(document):
    (figure,) = figures(document, "upgrades")
    heads = [column.title for column in figure.data_table.columns[2:4]]
    assert heads == ["half the latency saves", "twice the bandwidth saves"]
    rows = {row[0].text.split()[0]: row for row in figure.data_table.rows}
    assert rows["npb.cg"][-1].text == "half the latency"
    assert [cell.text for cell in rows["npb.cg"][2:4]] == ["25.0 %", "5.0 %"]
    # What is not tried there stays empty: its ranks share no core.
    assert rows["npb.mg"][2].text == "" and rows["npb.mg"][-1].text == "twice the bandwidth"


def test_a_size_beyond_the_ladder_is_marked(document):
    (figure,) = figures(document, "coverage")
    assert "1 lie beyond" in figure.text_summary
    assert [row[-1].tone for row in figure.data_table.rows] == ["", "worse"]


def test_a_waterfall_has_its_shares_in_the_table(document):
    (figure,) = figures(document, "waterfall")
    assert [row[0].text for row in figure.data_table.rows][-1] == "not explained"
    assert "90% of the loss" in figure.caption.replace("\u202f", "")


@pytest.mark.parametrize("kind", KINDS)
def test_a_probe_chooses_its_applications(document, kind):
    assert figures(document, kind, "app.*") == []
    chosen = figures(document, kind, "npb.c?")
    assert chosen and "npb.mg" not in str([figure.data_table for figure in chosen])


def test_a_loss_is_told_by_the_medians_of_its_launches() -> None:
    share = InputShare("residual", 2.5, 2.0, 3.0, 1.0)
    loss = LossSplit("a", "b", (1.0, 2.0), (3.0, 5.0), 1.0, (share,))
    console = Console(file=io.StringIO(), width=200)
    print_blocks(loss_blocks(loss, "app"), console)
    told = console.file.getvalue()  # type: ignore[attr-defined]
    assert "takes 2.50 s longer on b (4.00 s) than on a (1.50 s)" in told


@pytest.mark.parametrize("kind", ["predicted", "upgrades", "waterfall", "coverage"])
def test_letters_have_nine_pixels_on_a_phone(document, kind):
    for chart in figures(document, kind)[0].narrow:
        drawing = draw(chart)
        width = float(re.search(r'viewBox="\S+ \S+ (\S+)', drawing)[1])
        assert min(map(float, re.findall(r'font-size="([\d.]+)px"', drawing))) * 358 / width >= 9
