"""What an exhibit is, and how kinds of exhibits are found.

A kind of exhibit is one module of this package that ends in ``EXHIBIT = ...``. Others install
theirs under the entry-point group ``bareline.exhibits``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import chain
from typing import ClassVar

from bareline.analysis.cell import Cell
from bareline.predict.kept import Kept
from bareline.report.content.document import Document
from bareline.report.figures.figure import Figure
from bareline.vocabulary.errors import AnalysisError, did_you_mean
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.plugins import brought, checked, named, own


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
        if (spec.probe is None or fnmatchcase(cell.place.probe, spec.probe))
        and (cell.place.metric == spec.metric if spec.metric else not cell.metric.detail)
        and all(_matches(cell, name, wanted) for name, wanted in spec.where.items())
    ]


def _matches(cell: Cell, name: str, wanted: Scalar | Sequence[Scalar]) -> bool:
    value = cell.platform if name == "platform" else cell.place.coordinates.get(name)
    if isinstance(wanted, str | int | float):
        return value == wanted
    return value in wanted


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


def by_metric(cells: Sequence[Cell]) -> Iterator[tuple[tuple[str, str], list[Cell]]]:
    """Group cells by probe and metric, in the order in which they come."""
    groups: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.place.probe, cell.place.metric), []).append(cell)
    yield from groups.items()
