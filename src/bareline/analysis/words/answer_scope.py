"""The data of an answer: findings, rows in the study's question, and the division of losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bareline.analysis.judgements.breakdown import Breakdown
from bareline.analysis.judgements.findings import Finding
from bareline.analysis.numbers.programs import Predicted
from bareline.analysis.numbers.row import Row
from bareline.vocabulary.place import nodes_words
from bareline.vocabulary.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class AnswerScope:
    """The data of an answer: findings, rows in the study's question, and the division of losses."""

    findings: Sequence[Finding]
    cells: Sequence[Row]
    margin: float
    breakdowns: Sequence[Breakdown] = ()
    predicted: Predicted | None = None
    with_nodes: bool = False  #: Names need the nodes: not all ran on as many.

    def of(self, platform: str) -> AnswerScope:
        """Return the data of one platform."""
        node_counts = set()
        for finding in self.findings:
            if finding.compared:
                node_counts.add(finding.nodes)
        cells = [cell for cell in self.cells if cell.platform == platform]
        findings = [finding for finding in self.findings if finding.platform == platform]
        breakdowns = [part for part in self.breakdowns if part.cell.platform == platform]
        return replace(
            self,
            findings=findings,
            cells=cells,
            breakdowns=breakdowns,
            with_nodes=len(node_counts) > 1,
        )

    def cells_with(self, verdict: Verdict) -> list[Row]:
        """Return the rows in the study's question that have a verdict."""
        return [cell for cell in self.cells if cell.verdict is verdict]

    def findings_with(self, verdict: Verdict) -> list[Finding]:
        """Return the findings whose points together have a verdict."""
        return [finding for finding in self.findings if finding.verdict is verdict]

    def points_with(self, verdict: Verdict) -> list[Row]:
        """Return the points, of all findings, that have a verdict."""
        points = []
        for finding in self.findings:
            points += [point for point in finding.points if point.verdict is verdict]
        return points

    @property
    def compared(self) -> list[Finding]:
        """The findings with a point that both platforms measured."""
        return [finding for finding in self.findings if finding.compared]

    @property
    def means(self) -> list[Finding]:
        """The findings in the study's question where only the points' mean differs for certain."""
        named = {(cell.platform, cell.place) for cell in self.cells}
        means = []
        for finding in self.findings:
            points = {(point.platform, point.place) for point in finding.points}
            if finding.by_mean and points & named:
                means.append(finding)
        return means

    def where(self, finding: Finding) -> str:
        """Name a finding, with its number of nodes if this number differs between findings."""
        if finding.where or not self.with_nodes:
            return finding.subject.rstrip()
        return f"{finding.subject} {nodes_words(finding.nodes)}".rstrip()

    def name(self, cell: Row) -> str:
        """Name a row by probe, metric and point.

        The number of nodes is added if findings of the probe ran on different numbers of nodes.
        """
        of_probe = [finding for finding in self.findings if finding.probe == cell.place.probe]
        if not of_probe:
            return cell.place.probe
        finding = _finding_with(cell, of_probe)
        words = [finding.title]
        if not cell.headline:
            words.append(cell.place.metric.replace("_", " "))
        words.append(finding.label(cell))
        node_counts = {finding.nodes for finding in of_probe}
        if len(node_counts) > 1 and not finding.where:
            words.append(nodes_words(finding.nodes))
        return " ".join(filter(None, words))

    @property
    def size(self) -> tuple[float, float]:
        """The largest loss of the rows in the study's question, and of all points, for sorting."""
        named = [cell.size for cell in self.cells_with(Verdict.SLOWER)]
        everywhere = [point.size for point in self.points_with(Verdict.SLOWER)]
        return max(named, default=0.0), max(everywhere, default=0.0)


def _finding_with(cell: Row, findings: Sequence[Finding]) -> Finding:
    """Return the finding that contains the point of a row, or the first finding."""
    for finding in findings:
        if any(point.place == cell.place for point in finding.points):
            return finding
    return findings[0]
