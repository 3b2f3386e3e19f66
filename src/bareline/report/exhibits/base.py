"""What an exhibit is, and how kinds of exhibits are found.

A kind of exhibit is one module of this package that ends in ``EXHIBIT = ...``. Others install
theirs under the entry-point group ``bareline.exhibits``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from typing import ClassVar, TypeVar

from bareline.analysis.cell import Cell
from bareline.predict.kept import Kept
from bareline.report.content.anchors import slug
from bareline.report.content.cells import tidy
from bareline.report.content.document import Document
from bareline.report.content.published import PublishedPoint
from bareline.report.content.wording import caveat_notes, metric_name, sentence_case
from bareline.report.figures.figure import Chart, DataTable, Figure
from bareline.vocabulary.errors import AnalysisError, did_you_mean
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import Place
from bareline.vocabulary.plugins import brought, checked, named, own

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


class Exhibit(ABC):
    """A kind of figure or table.

    Attributes
    ----------
    kind
        Its name in a study's ``[[exhibit]]``.
    summary
        One line for the reference.
    """

    kind: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw what the specification asks for; an empty list when the run holds none of it."""

    def figure(
        self,
        spec: ExhibitSpec,
        *what: str,
        title: str,
        label: str = "",
        notes: Iterable[str] = (),
        cells: Sequence[Cell] = (),
        probe: str = "",
        layer: str | None = None,
        wide: bool = True,
        panels: Iterable[Chart] = (),
        names: Iterable[str] = (),
        large: int | None = None,
        narrow: Iterable[Chart] = (),
        summary: str = "",
        table: DataTable | None = None,
        data: Iterable[Mapping[str, Scalar | None]] | None = None,
        published: Iterable[PublishedPoint] = (),
    ) -> Figure:
        """Put a figure together: what all kinds say alike of what they draw.

        Parameters
        ----------
        what
            What tells it from others of its kind, for its name.
        title, label
            Where the specification has no title; what follows it to tell figures apart.
        notes
            What stands in the caption after the specification's own.
        names, large, published
            Of the panels, which of them is drawn large, and what is drawn of publications.
        cells
            What it shows: they give its layer, its caveats and its data, unless these are given.
        """
        layers = {cell.layer for cell in cells}
        drawn = tuple(panels)
        return Figure(
            id=slug(self.kind, *what, label, spec.title),
            title=", ".join(filter(None, [spec.title or title, label])),
            caption=" ".join(filter(None, [spec.caption, *notes])),
            probe=probe,
            layer=(layers.pop() if len(layers) == 1 else "") if layer is None else layer,
            panels=drawn,
            names=tuple(names),
            large=large,
            narrow=tuple(narrow),
            wide=wide,
            text_summary=summary,
            caveats=caveat_notes(cells) if drawn else (),
            sources=tuple(dict.fromkeys((point.anchor, point.source) for point in published)),
            data_table=table,
            data=tidy(cells) if data is None else tuple(data),
        )


@cache
def load_exhibits() -> Mapping[str, Exhibit]:
    """Find every kind of exhibit of this package and of installed plug-ins, by name.

    Raises
    ------
    PluginError
        Two share a name, or a plug-in is no kind of exhibit.
    """
    every = chain(own("bareline.report.exhibits", "EXHIBIT"), brought("bareline.exhibits"))
    return named("kind of exhibit", checked("exhibit", every, Exhibit), lambda one: one.kind)


def find_exhibit(kind: str) -> Exhibit:
    """Give the kind of exhibit of this name.

    Raises
    ------
    AnalysisError
        There is none; the message names the closest.
    """
    exhibits = load_exhibits()
    if kind in exhibits:
        return exhibits[kind]
    hint = did_you_mean(kind, exhibits, f"the kinds are: {', '.join(exhibits)}")
    raise AnalysisError(f"no exhibit is of kind '{kind}'", where="[[exhibit]]", hint=hint)


def select(document: Document, spec: ExhibitSpec) -> list[Cell]:
    """Give the cells that a specification asks for.

    Without a metric that is every metric that is not a detail.
    """
    return [
        cell
        for cell in document.cells
        if (cell.place.metric == spec.metric if spec.metric else not cell.metric.detail)
        and meant(spec, cell.platform, cell.place)
    ]


def meant(spec: ExhibitSpec, platform: str, place: Place) -> bool:
    """Tell whether a specification asks for a place on a platform, whatever the metric."""
    known = {**place.coordinates, "platform": platform}
    return (
        spec.probe is None or any(fnmatchcase(place.probe, one) for one in (spec.probe, *spec.also))
    ) and all(_matches(known.get(name), wanted) for name, wanted in spec.where.items())


def _matches(value: Scalar | None, wanted: Scalar | Sequence[Scalar]) -> bool:
    if isinstance(wanted, str | int | float):
        return value == wanted
    return value in wanted


def titled(document: Document, cell: Cell, names: Iterable[str], *, metric: bool = True) -> str:
    """Title a cell among those of several probes: what its probe measures, and some parameters.

    A metric that its probe is not judged by is named, too, unless all are of one metric.
    """
    title = sentence_case(document.probe_titles.get(cell.place.probe, cell.place.probe))
    what = "" if cell.headline or not metric else metric_name(cell.place.metric)
    return ", ".join(filter(None, [title, what, cell.place.told(names)]))


def predictions_of(document: Document, spec: ExhibitSpec) -> Kept | None:
    """Give the predictions of the applications that a specification asks for; None without any."""
    kept = document.predictions
    if kept is None or spec.probe is None:
        return kept
    pattern = spec.probe

    def asked(application: str) -> bool:
        return fnmatchcase(application.split(" ", 1)[0], pattern)

    trials = tuple(one for one in kept.validation.trials if asked(one.application))
    return replace(
        kept,
        validation=replace(kept.validation, trials=trials),
        losses=tuple(one for one in kept.losses if asked(one.application)),
        upgrades=tuple(one for one in kept.upgrades if asked(one.application)),
        strips=tuple(one for one in kept.strips if asked(one.application)),
    )


def grouped_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Put together what shares a key, in the order in which it comes."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def by_metric(cells: Sequence[Cell]) -> Iterator[tuple[tuple[str, str], list[Cell]]]:
    """Group cells by probe and metric, in the order in which they come."""
    yield from grouped_by(cells, lambda cell: (cell.place.probe, cell.place.metric)).items()
