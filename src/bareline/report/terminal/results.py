"""Results in the terminal: the verdict, tables of at most 100 columns, and causes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence

import polars as pl

from bareline.analysis.judgements.control import Control
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.disturbance import disturbed_trials
from bareline.analysis.numbers.programs import unprofiled
from bareline.analysis.numbers.row import Row, read_rows
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.disturbance import disturbed_words
from bareline.analysis.words.error_rates import control_sentence
from bareline.analysis.words.parts import Sentence, sentence
from bareline.analysis.words.reasons import reasons_of
from bareline.analysis.words.subjects import SubjectNames
from bareline.report.blocks import (
    Block,
    Field,
    Note,
    Prose,
    Remark,
    Rows,
    Section,
    Table,
    Tone,
    Words,
)
from bareline.report.content.cells import headline_first, numeric_axis, position
from bareline.report.content.claim_rows import Claims, claims_table
from bareline.report.content.claims import claims_of
from bareline.report.content.grid import by_loss, grid, layers_of, legend
from bareline.report.content.suitability import suited
from bareline.report.content.wording import (
    axis_name,
    case_words,
    metric_name,
    verdict_tone,
    verdict_word,
)
from bareline.report.figures.scales import SIZE_TICKS, Scale, unit_scale
from bareline.vocabulary.caveats import Caveat, briefs
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.model import Layer, Stage
from bareline.vocabulary.place import varying
from bareline.vocabulary.units import count, joined, listing
from bareline.vocabulary.verdicts import Verdict

_LONGEST_SWEEP = 7
#: Layers whose programs can be profiled, and can therefore be predicted on another layout.
PREDICTABLE = (Layer.NPB, Layer.APP)
#: The largest number of causes that are named; `explain` names all causes.
_MOST_CAUSES = 8
#: Adds the columns of a table's cells, in a unit and under the metric's name.
_Columns = Callable[[Rows[Row], Scale, str], object]


def summary_blocks(summary: pl.DataFrame, *, details: bool = False) -> Iterator[Block]:
    """Yield the medians with intervals, a table per probe and unit.

    - `details`: whether all points of a long sweep, all metrics and profiled launches are shown.
    """

    def columns(rows: Rows[Row], scale: Scale, metric: str) -> None:
        rows.estimate(scale.titled(metric), lambda cell: cell.value, scale.show)
        rows.figure("n", lambda cell: str(cell.n))

    if not details:
        summary = unprofiled(summary)
    cells = read_rows(summary, None)
    return _cell_blocks(cells, columns, details=details)


def cost_blocks(texts: Sequence[str]) -> Iterator[Block]:
    """Yield the core hours of a run by platform, if they were counted."""
    if texts:
        yield Remark(f"core hours: {', '.join(texts)}", "muted")


def failed_blocks(failed: pl.DataFrame) -> Iterator[Block]:
    """Yield the failed or skipped cases, a line each, with the reason of the last failure."""
    for row in failed.iter_rows(named=True):
        where = f"{case_words(row)} on {row['platform']}"
        stage = row["stage"]
        reason = row["reason"]
        if stage == Stage.ABSENT.value:
            yield Remark(f"skipped: {where}: {reason}", "caution")
            continue
        failed_trials = row["n_failed"]
        planned = count(row["n"] + failed_trials, "trial")
        yield Remark(f"failed: {where}: {failed_trials} of {planned} [{stage}] {reason}", "caution")


def control_blocks(
    controls: Sequence[Control], comparison: pl.DataFrame | None = None, *, details: bool = False
) -> Iterator[Block]:
    """Yield the baseline's comparison with itself.

    - `comparison`: the comparison of the baseline with itself; if given, its rows are also shown.
    """
    if comparison is not None:
        yield from _row_blocks(comparison, details=details)
    for control in controls:
        yield Remark(control_sentence(control), "muted")
    if not controls:
        yield Remark("No control was measured: `bareline run --control` adds one.", "muted")


def headline_blocks(comparison: Comparison) -> Iterator[Block]:
    """Yield only the answer of a comparison."""
    yield Prose(tuple(comparison.glance.headline.clauses), "headline")


def comparison_blocks(comparison: Comparison, *, details: bool = False) -> Iterator[Block]:
    """Yield the answer, every finding on every platform, and the causes.

    - `details`: whether every point is also shown.
    """
    findings = comparison.findings
    claims = claims_of(comparison)
    yield from headline_blocks(comparison)
    if claims.score.line:
        yield Prose((claims.score.line,))
    yield from grid(findings, by_loss(findings, comparison.others))
    yield Note(legend(findings, comparison.baseline, comparison.margin))
    yield from _claim_blocks(claims)
    causes = _causes(comparison)
    reasons: list[Words] = [*causes[:_MOST_CAUSES]]
    if len(causes) > _MOST_CAUSES:
        reasons.append(f"and {count(len(causes) - _MOST_CAUSES, 'more reason')}")
    if reasons:
        yield Prose(tuple(reasons), "list")
    yield from _caveats(findings)
    yield from _predictable(comparison)
    disturbed = disturbed_words(disturbed_trials(comparison.records))
    if disturbed:
        yield Note(f"{disturbed}. No trial is left out, so that disturbances widen intervals.")
    for control in comparison.controls:
        yield Note(control_sentence(control))
    yield Remark()
    if details:
        yield from _row_blocks(comparison.table, details=True)
    else:
        hint = (
            "`bareline explain --all` writes every finding as a sentence; `bareline compare --all` "
            "lists every point, `bareline compare --probe P` those of one probe."
        )
        yield Remark(hint, "muted")


def _claim_blocks(claims: Claims) -> Iterator[Block]:
    """Yield the table of published statements, and a note on claims that only the page shows."""
    if claims.open:
        yield claims_table(claims.open, sources=False)
    if not claims.rows:
        return
    rest = count(len(claims.ratios), "printed ratio")
    if claims.folded:
        statements = count(len(claims.folded), "statement")
        rest += f" and {statements} that this run does not measure"
    yield Note(f"On the page (`bareline report`): {rest}, each with its reason.")


def _causes(comparison: Comparison) -> list[Sentence]:
    causes: list[Sentence] = []
    for layer in layers_of(comparison.findings):
        causes += _causes_in(comparison, layer)
    return causes


def _causes_in(comparison: Comparison, layer: Layer) -> list[Sentence]:
    """Return the sentences on the causes of losses in a layer."""
    in_layer = [each for each in comparison.explanations if each.finding.layer is layer]
    named = SubjectNames(comparison.findings).listed
    return [sentence(*reason) for reason in reasons_of(in_layer, named)]


def _caveats(findings: Sequence[Finding]) -> list[Block]:
    """Return a line for each caveat of a comparison, with the platforms that have it."""
    compared = [finding for finding in findings if finding.compared]
    caveats: list[Caveat] = []
    for finding in compared:
        caveats += finding.caveats
    texts: list[str] = []
    for brief, codes in briefs(caveats).items():
        names: dict[str, None] = {}
        for finding in compared:
            if not codes.isdisjoint(finding.caveats):
                names[finding.platform] = None
        texts.append(f"{brief} on {listing([*names])}")
    if not texts:
        return []
    return [Note(f"Caveats: {'; '.join(texts)}.")]


def _predictable(comparison: Comparison) -> list[Block]:
    """Return a note on programs that cannot be compared, and the command that predicts one."""
    programs = [
        finding
        for finding in comparison.findings
        if finding.verdict is Verdict.NOT_COMPARABLE and finding.layer in PREDICTABLE
    ]
    if not programs:
        return []
    first = programs[0]
    path = str(comparison.records.runs[0].path)
    sides = f"--base {first.baseline} --to {first.platform}"
    command = f"bareline predict {first.probe} --from {shlex.quote(path)} {sides}"
    probes = dict.fromkeys(finding.probe for finding in programs)
    note = (
        f"Not comparable as measured: {listing([*probes])}; a prediction from its profile may be: "
    )
    return [Note(note), Remark(command, unbroken=True)]


def explained_blocks(comparison: Comparison, *, details: bool = False) -> Iterator[Block]:
    """Yield the answer and the explanation of each layer's loss.

    If there is no loss to explain, all findings are shown.

    - `details`: whether all findings are also shown.
    """
    if comparison.alone or details or not comparison.explanations:
        yield from _all_explained(comparison)
        return
    yield Prose(tuple(comparison.glance.headline.clauses), "headline")
    without_loss: list[str] = []
    for layer in layers_of(comparison.findings):
        reasons = _causes_in(comparison, layer)
        if reasons:
            yield Section(layer.words, (Prose(tuple(reasons), "list"),))
        else:
            without_loss.append(layer.words)
    if without_loss:
        yield Note(f"No certain or likely loss was found in: {listing(without_loss)}.")
    if comparison.glance.promise:
        yield Note(comparison.glance.promise)
    hint = (
        "`bareline explain --all` adds every finding, the launches that each undecided finding "
        "needs, and the kinds of application that each platform suits."
    )
    yield Remark(hint, "muted")


def _all_explained(comparison: Comparison) -> Iterator[Block]:
    """Yield all findings in words, and the suitability of the platforms."""
    if comparison.alone and comparison.controls:
        yield from control_blocks(comparison.controls)
    yield Prose(tuple(comparison.sentences) or ("There is nothing to compare.",))
    if not comparison.alone and comparison.glance.promise:
        yield Note(comparison.glance.promise)
    yield from suited(comparison.suitability)


def selected_blocks(rows: pl.DataFrame, all_rows: int, *, details: bool = False) -> Iterator[Block]:
    """Yield some rows of a comparison.

    - `all_rows`: the number of all rows of the comparison, which a line below the table names.
    - `details`: whether every point is also shown.
    """
    yield from _row_blocks(rows, details=details)
    yield Remark(
        f"{rows.height} of {count(all_rows, 'row')} selected; intervals and verdicts are those "
        "over all of them.",
        "muted",
    )


def _row_blocks(comparison: pl.DataFrame, *, details: bool) -> Iterator[Block]:
    baseline = comparison.item(0, "baseline") if comparison.height else ""

    def tone(cell: Row) -> Tone:
        return verdict_tone(cell.verdict)

    def verdict(cell: Row) -> Field:
        return Field(verdict_word(cell.verdict), tone=tone(cell))

    def columns(rows: Rows[Row], scale: Scale, metric: str) -> None:
        rows.figure(scale.titled(metric), lambda cell: scale.show(cell.median))
        rows.figure(baseline, lambda cell: scale.show(_base(cell)))
        rows.estimate("ratio", lambda cell: cell.ratio, tone=tone)
        rows.figure("n", lambda cell: str(cell.n))
        rows.column("verdict", verdict, "text")

    yield from _cell_blocks(read_rows(None, comparison), columns, details=details)
    yield Remark(f"A ratio above 1 is worse than {baseline}; 95 % is its interval.", "muted")


def _base(cell: Row) -> float | None:
    return None if cell.base is None else cell.base.value


def _cell_blocks(cells: Sequence[Row], columns: _Columns, *, details: bool) -> Iterator[Block]:
    """Yield a table for each probe and unit, and the number of rows that the table leaves out."""
    left_out = 0
    for group in _groups(cells, details=details):
        rows = group if details else _thinned(group)
        left_out += len(group) - len(rows)
        table = _table(headline_first(rows), columns)
        yield Section(group[0].place.probe, (table,))
        yield Remark()
    if left_out:
        noun = count(left_out, "row")
        yield Remark(f"{noun} between these sizes left out; --all shows them.", "muted")


def _groups(cells: Sequence[Row], *, details: bool) -> list[list[Row]]:
    """Return the cells by probe and unit; the unit of a probe's headline metric is first."""
    listed = [cell for cell in cells if details or not cell.metric.detail]
    groups: list[list[Row]] = []
    for of_probe in grouped_by(listed, lambda cell: cell.place.probe).values():
        by_unit = grouped_by(of_probe, lambda cell: cell.metric.unit)
        groups += sorted(by_unit.values(), key=_without_headline)
    return groups


def _without_headline(cells: Sequence[Row]) -> bool:
    return not any(cell.headline for cell in cells)


def _table(cells: Sequence[Row], columns: _Columns) -> Table:
    """Return a table of cells of one unit.

    The first column names the parameters that vary and, if there are several metrics, the metric.
    """
    names = varying(cell.place for cell in cells)
    metrics = list(dict.fromkeys(metric_name(cell.place.metric) for cell in cells))
    has_one_metric = len(metrics) == 1

    def point(cell: Row) -> str:
        place = cell.place.words_of(names)
        if has_one_metric:
            return place
        return joined(metric_name(cell.place.metric), place)

    rows = Rows(cells)
    if any(map(point, cells)):
        is_one_axis = has_one_metric and len(names) == 1
        title = axis_name(names[0]) if is_one_axis else ""
        rows.text(title, point)
    rows.text("platform", lambda cell: cell.platform)
    metric = metrics[0] if has_one_metric else "median"
    columns(rows, _scale_of(cells), metric)
    rows.column("", lambda cell: Field("", caveats=cell.caveats), "text")
    return rows.table(whole=True)


def _scale_of(cells: Sequence[Row]) -> Scale:
    """Return the unit for the values of platform and baseline."""
    values: list[float | None] = []
    for cell in cells:
        values += [side.value for side in (cell.value, cell.base) if side is not None]
    return unit_scale(values, cells[0].metric.unit)


def _thinned(cells: Sequence[Row]) -> list[Row]:
    """Return the cells at the ends of a long sweep, and at the sizes that are ticks of axes.

    If the sweep is not long, all cells are returned.
    """
    axis = numeric_axis(cells)
    if axis is None:
        return list(cells)
    values = sorted({position(cell, axis) for cell in cells})
    if len(values) <= _LONGEST_SWEEP:
        return list(cells)
    sizes = {values[0], values[-1], *SIZE_TICKS}
    return [cell for cell in cells if position(cell, axis) in sizes]
