"""Which figures a document has, in the order of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from bareline.report.blocks.figure import Figure
from bareline.report.content.cells import numeric_axis
from bareline.report.content.document import Document
from bareline.report.exhibits.base import by_metric, find_exhibit
from bareline.vocabulary.exhibit import ExhibitSpec

#: Every page of a run that holds a calibration or predictions shows them, in this order.
_WHERE_THERE = (
    "calibration",
    "predicted",
    "worst-predictions",
    "upgrades",
    "waterfall",
    "coverage",
)


def default_exhibits(document: Document) -> tuple[ExhibitSpec, ...]:
    """Choose exhibits for a study that asks for none.

    The overview; then each metric that is not a detail as a curve when a numeric parameter varies
    in it, else as bars together with the probe's other single numbers.
    """
    chosen = [ExhibitSpec(kind="overview")]
    barred: set[str] = set()
    for (probe, metric), cells in by_metric(
        [cell for cell in document.cells if not cell.metric.detail]
    ):
        x = numeric_axis(cells)
        if x is not None:
            chosen.append(ExhibitSpec(kind="curve", probe=probe, metric=metric, x=x))
        elif probe not in barred:
            barred.add(probe)
            chosen.append(ExhibitSpec(kind="bars", probe=probe))
    return tuple(chosen)


def draw_figures(document: Document) -> tuple[list[Figure], list[ExhibitSpec]]:
    """Draw all figures of a document.

    Gives the figures with unique ids, and the exhibits that the study asks for but for which the
    run holds nothing.

    Raises AnalysisError: the study asks for a kind of exhibit that does not exist.
    """
    specs: Sequence[ExhibitSpec] = document.exhibits or default_exhibits(document)
    first = [spec for spec in specs if spec.kind == "overview"] or [ExhibitSpec(kind="overview")]
    then = [spec for spec in specs if spec.kind == "suitability"]
    rest = [spec for spec in specs if spec.kind not in ("overview", "suitability")]
    asked = {spec.kind for spec in specs}
    last = [ExhibitSpec(kind=kind) for kind in _WHERE_THERE if kind not in asked]
    specs = [*first, *(then or [ExhibitSpec(kind="suitability")]), *rest, *last]
    drawn: list[Figure] = []
    empty: list[ExhibitSpec] = []
    used: dict[str, int] = {}
    for spec in specs:
        figures = [
            _noted(figure, document.shown.notes)
            for figure in find_exhibit(spec.kind).figures(document, spec)
        ]
        if not figures and document.exhibits and spec in document.exhibits:
            empty.append(spec)
        for figure in figures:
            used[figure.id] = used.get(figure.id, 0) + 1
            again = used[figure.id] > 1
            drawn.append(replace(figure, id=f"{figure.id}-{used[figure.id]}") if again else figure)
    return drawn, empty


def _noted(figure: Figure, notes: Mapping[str, str]) -> Figure:
    """Say under a figure that it shows not everything, where that is so."""
    note = notes.get(figure.probe)
    return replace(figure, caption=f"{figure.caption} {note}".strip()) if note else figure
