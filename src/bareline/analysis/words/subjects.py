"""Name the subjects of findings (probes with sizes and layouts) in short lists."""

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
        different = dict.fromkeys(subjects)
        by_title = grouped_by(different, self._titles.__getitem__)
        names = [self._named(title, group) for title, group in by_title.items()]
        return listing(names)

    def _named(self, title: str, subjects: Sequence[str]) -> str:
        """Name subjects of one title.

        If `subjects` contains all subjects of the title, the title alone is used. If it contains
        all subjects of a layout, the layout is named once.
        """
        if len(subjects) == 1:
            return subjects[0]
        of_title = [subject for subject, other in self._titles.items() if other == title]
        if set(of_title) <= set(subjects):
            return title
        subjects_of = grouped_by(of_title, self._layouts.__getitem__)
        classes: list[str] = []
        by_layout = grouped_by(subjects, self._layouts.__getitem__)
        for layout, given in by_layout.items():
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
    """The common data of the clauses about several findings.

    - `names`: the names of the subjects.
    - `margin`: a relative difference that does not matter.
    - `with_platforms`: the clauses name the platforms; if false, the beginning of the sentence
      names them.
    """

    names: SubjectNames
    margin: float
    with_platforms: bool

    def on(self, findings: Iterable[Finding]) -> list[Piece]:
        """Name the platforms of findings: ``on a and b``.

        The result is empty if the beginning of the sentence names them.
        """
        if not self.with_platforms:
            return []
        names = platforms_named(finding.platform for finding in findings)
        return [" on ", *names]

    def subjects_by_platforms(self, findings: Sequence[Finding]) -> list[Piece]:
        """List the subjects of findings, grouped by platforms."""
        subjects_on: dict[Sentence, list[str]] = {}
        by_subject = grouped_by(findings, lambda finding: finding.subject)
        for subject, group in by_subject.items():
            platforms_of_group = sentence(*self.on(group))
            subjects_on.setdefault(platforms_of_group, []).append(subject)
        clauses: list[list[Piece]] = []
        for platforms, subjects in subjects_on.items():
            listed = self.names.listed(subjects)
            clauses.append([listed, *platforms.parts])
        return joined(clauses)
