"""Names of the subjects of findings: probes with their sizes and layouts, listed briefly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bareline.analysis.judgements.findings import Finding
from bareline.analysis.words.parts import Piece, Sentence, joined, platforms_named, sentence
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.units import listing


class SubjectNames:
    """The subjects of the findings that are described together."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._titles = {finding.subject: finding.title for finding in findings}
        self._layouts = {finding.subject: finding.where for finding in findings}

    def listed(self, subjects: Sequence[str]) -> str:
        """List subjects: ``the DGEMM rate and MPI ping-pong (below 8 KiB, from 256 KiB)``."""
        by_title = grouped_by(dict.fromkeys(subjects), self._titles.__getitem__)
        return listing([self._named(title, group) for title, group in by_title.items()])

    def _named(self, title: str, subjects: Sequence[str]) -> str:
        """Name subjects of one title, by the title alone where all of its subjects are among them.

        A layout of which all subjects are given is named once.
        """
        if len(subjects) == 1:
            return subjects[0]
        of_title = [subject for subject, other in self._titles.items() if other == title]
        if set(of_title) <= set(subjects):
            return title
        subjects_of = grouped_by(of_title, self._layouts.__getitem__)
        classes: list[str] = []
        for layout, given in grouped_by(subjects, self._layouts.__getitem__).items():
            if len(given) > 1 and len(given) == len(subjects_of[layout]):
                classes.append(layout)
            else:
                classes += [subject.removeprefix(title).strip() for subject in given]
        if len(classes) == 1:
            return f"{title} {classes[0]}".strip()
        named = [words.strip() or "layout unknown" for words in classes]
        return f"{title} ({', '.join(named)})"


@dataclass(frozen=True, slots=True)
class Wording:
    """The common basis of the clauses about several findings.

    - `names`: of their subjects.
    - `margin`: a relative difference that does not matter.
    - `with_platforms`: clauses name the platforms; else the lead of the sentence does.
    """

    names: SubjectNames
    margin: float
    with_platforms: bool

    def on(self, findings: Iterable[Finding]) -> list[Piece]:
        """Name the platforms of findings: ``on a and b``; nothing where the lead names them."""
        if not self.with_platforms:
            return []
        return [" on ", *platforms_named(finding.platform for finding in findings)]

    def subjects_by_platforms(self, findings: Sequence[Finding]) -> list[Piece]:
        """List the subjects of findings; subjects of the same platforms share their names."""
        subjects_on: dict[Sentence, list[str]] = {}
        for subject, group in grouped_by(findings, lambda finding: finding.subject).items():
            subjects_on.setdefault(sentence(*self.on(group)), []).append(subject)
        clauses: list[list[Piece]] = []
        for platforms, subjects in subjects_on.items():
            clauses.append([self.names.listed(subjects), *platforms.parts])
        return joined(clauses)
