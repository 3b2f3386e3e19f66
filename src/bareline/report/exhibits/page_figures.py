"""The figures of a page: the list of its exhibits, in their order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from bareline.report.blocks import Figure
from bareline.report.content.cells import numeric_axis
from bareline.report.content.document import Document
from bareline.report.exhibits.base import by_metric, find_exhibit
from bareline.vocabulary.exhibit import ExhibitSpec

#: Exhibits that a page shows in this order if the run has data for them, e.g. a calibration.
_WHERE_THERE = (
    "calibration",
    "predicted",
    "worst-predictions",
    "upgrades",
    "waterfall",
    "coverage",
)
#: Kinds that every page begins with.
_HEADS = ("overview", "suitability")


def default_exhibits(document: Document) -> tuple[ExhibitSpec, ...]:
    """Return the exhibits of a study that names none.

    First comes the overview. Then comes each metric that is not a detail: as a curve if a numeric
    parameter varies, else as bars together with the probe's other single numbers.
    """
    specs = [ExhibitSpec(kind="overview")]
    cells = [cell for cell in document.cells if not cell.metric.detail]
    for (probe, metric), group in by_metric(cells):
        bars = ExhibitSpec(kind="bars", probe=probe)
        if x := numeric_axis(group):
            specs.append(ExhibitSpec(kind="curve", probe=probe, metric=metric, x=x))
        elif bars not in specs:
            specs.append(bars)
    return tuple(specs)


def draw_figures(document: Document) -> tuple[list[Figure], list[ExhibitSpec]]:
    """Draw all figures, with unique ids; also return the exhibits without data in the run.

    Raises AnalysisError: the study names a kind of exhibit that does not exist.
    """
    drawn: list[Figure] = []
    empty: list[ExhibitSpec] = []
    used: Counter[str] = Counter()
    for spec in _page_exhibits(document):
        figures = find_exhibit(spec.kind).figures(document, spec)
        if not figures and spec in document.exhibits:
            empty.append(spec)
        for figure in figures:
            used[figure.id] += 1
            drawn.append(_on_page(document, figure, used[figure.id]))
    return drawn, empty


def _page_exhibits(document: Document) -> list[ExhibitSpec]:
    """Return the exhibits of a page: first the exhibits that every page has, then the study's."""
    wanted: Sequence[ExhibitSpec] = document.exhibits or default_exhibits(document)
    kinds = {spec.kind for spec in wanted}
    heads: list[ExhibitSpec] = []
    for kind in _HEADS:
        of_study = [spec for spec in wanted if spec.kind == kind]
        heads += of_study or [ExhibitSpec(kind=kind)]
    if document.history_runs and "trend" not in kinds:
        heads.append(ExhibitSpec(kind="trend"))
    middle = [spec for spec in wanted if spec.kind not in _HEADS]
    last = [ExhibitSpec(kind=kind) for kind in _WHERE_THERE if kind not in kinds]
    return [*heads, *middle, *last]


def _on_page(document: Document, figure: Figure, number: int) -> Figure:
    """Return a figure with a unique id, and with a note on the values that the page omits."""
    note = document.shown.notes.get(figure.probe)
    if note:
        caption = f"{figure.caption} {note}"
        figure = replace(figure, caption=caption.strip())
    if number > 1:
        figure = replace(figure, id=f"{figure.id}-{number}")
    return figure
