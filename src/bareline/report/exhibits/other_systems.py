"""Published ratios that do not compare a platform of the run with the run's baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bareline.analysis.numbers.row import Row
from bareline.published.catalogue import conditions, publications
from bareline.published.model import PublishedStudy
from bareline.published.ratios import PublishedRatio, computed_ratios, likewise, printed_ratios
from bareline.report.blocks import Figure, Rows
from bareline.report.content.document import Document
from bareline.report.content.published import same_place, speaks_of
from bareline.report.exhibits.base import figure_of, select
from bareline.report.exhibits.rules import rule_text, worse_by_rule
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.units import plain
from bareline.vocabulary.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class OtherSystem:
    """A published ratio that does not compare a platform of the run with the run's baseline.

    - `probe`: the probe if several probes measure the benchmark, else "".
    - `measured`: the ratios that the run measured for the same two systems, computed by the
      exhibit's rule; "" if there are none.
    """

    study: PublishedStudy
    ratio: PublishedRatio
    probe: str = ""
    measured: str = ""

    @property
    def benchmark(self) -> str:
        """The name of the published benchmark, its metric, and `probe` if it is set."""
        metric = self.ratio.metric.replace("_", " ")
        name = f"{self.ratio.benchmark}, {metric}"
        if not self.probe:
            return name
        return f"{name} ({self.probe})"

    @property
    def place(self) -> str:
        """The conditions for which the ratio is printed, e.g. ``32 ranks``."""
        return conditions(self.ratio.conditions)

    def name(self, platform: str) -> str:
        """Return the printed name of one of the two systems."""
        described = self.study.platform(platform)
        if described is None:
            return platform
        return described.name


def printed_of_others(document: Document, spec: ExhibitSpec) -> list[OtherSystem]:
    """Return an exhibit's published ratios, except ratios of a run's platform to its baseline."""
    return _OtherSystems(document, spec).printed()


class _OtherSystems:
    """A search for an exhibit's published ratios of other systems, with the run's values."""

    def __init__(self, document: Document, spec: ExhibitSpec) -> None:
        self.document = document
        self.spec = spec
        self.cells = select(document, spec)
        self.probes = {cell.place.probe for cell in self.cells}
        #: The platforms of the run that represent each published platform.
        self.cast: dict[str, set[str]] = {}
        for role in document.roles.values():
            for name in role.published:
                if role.platform:
                    self.cast.setdefault(name, set()).add(role.platform)

    def printed(self) -> list[OtherSystem]:
        others: list[OtherSystem] = []
        for study in publications().values():
            for ratio in (*printed_ratios(study), *computed_ratios(study)):
                if ratio.part in self.spec.published and not self._is_row(study, ratio):
                    others += self._of_ratio(study, ratio)
        return others

    def _is_row(self, study: PublishedStudy, ratio: PublishedRatio) -> bool:
        """Whether a ratio compares a platform of the run with the run's baseline."""
        baselines = self.cast.get(f"{study.id}:{ratio.baseline}", ())
        return f"{study.id}:{ratio.platform}" in self.cast and self.document.baseline in baselines

    def _of_ratio(self, study: PublishedStudy, ratio: PublishedRatio) -> Iterator[OtherSystem]:
        """Yield a published ratio once for each probe that measures its benchmark."""
        measured_here = []
        for printing in (ratio, *likewise(study, ratio)):
            if any(map(printing.measured_by, self.probes)):
                measured_here.append(printing)
        for printing in measured_here:
            probe = printing.probe if len(measured_here) > 1 else ""
            yield OtherSystem(study, printing, probe or "", self._measured(printing))

    def _measured(self, ratio: PublishedRatio) -> str:
        """Format the ratios that the run measured; "" if the run lacks one of the two platforms."""
        platforms = self.cast.get(f"{ratio.publication}:{ratio.platform}", ())
        baselines = self.cast.get(f"{ratio.publication}:{ratio.baseline}", ())
        about = self._about(ratio)
        bases = {cell.place: cell for cell in about if cell.platform in baselines}
        texts: dict[str, None] = {}
        for cell in about:
            base = bases.get(cell.place)
            if base is None or cell.platform not in platforms or base.platform == cell.platform:
                continue
            if Verdict.NOT_COMPARABLE in (cell.verdict, base.verdict):
                continue
            worse = worse_by_rule(self.document, cell, base, self.spec.rule)
            if worse is not None:
                texts[plain(worse)] = None
        return "; ".join(texts)

    def _about(self, ratio: PublishedRatio) -> list[Row]:
        """Return the cells that measure the quantity of a published ratio on its ranks and nodes.

        If there are none, return the cells that measure this quantity on any ranks and nodes.
        """
        about = [cell for cell in self.cells if speaks_of(ratio, cell.place)]
        there = [cell for cell in about if same_place(ratio, cell.place)]
        return there or about


def others_figure(spec: ExhibitSpec, others: Sequence[OtherSystem]) -> Figure:
    """Return a table of published ratios of other systems, with the ratios of the run."""
    rows = Rows(others, lambda other: other.benchmark)
    rows.text("benchmark", lambda other: other.benchmark)
    if any(other.place for other in others):
        rows.text("at", lambda other: other.place)
    rows.text("system", lambda other: other.name(other.ratio.platform))
    rows.text("against", lambda other: other.name(other.ratio.baseline))
    rows.figure("published ratio", lambda other: str(other.ratio.span))
    rows.text("printed", lambda other: other.ratio.text)
    notes = [
        "Ratios that the publication prints of two systems, other than the systems of a platform "
        "here and of its baseline."
    ]
    if any(other.measured for other in others):
        rows.figure("measured here", lambda other: other.measured)
        notes.append("Measured: the same ratio of the platforms in the roles of both.")
        notes.append(rule_text(spec.rule, "the second system"))
    return figure_of(
        spec,
        title="Performance against other systems",
        what=(spec.probe or "all", spec.metric or ""),
        label="printed of other pairs of systems",
        notes=notes,
        table=rows.table(),
        folded=True,
    )
