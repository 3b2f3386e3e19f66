"""Which upgrade helps most: what each change of a platform would save of an application's time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from bareline.predict.questions import UPGRADES, Upgrade
from bareline.report.content.document import Document
from bareline.report.content.wording import percent
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import DataTable, Field, Figure, Tone
from bareline.report.figures.predictions import SECTION, upgrades_chart
from bareline.report.figures.tables import Rows
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec

#: Below this an upgrade is none.
_NOTABLE = 0.005
_CAPTION = (
    "The share of its time that each application would save on a platform if one thing alone were "
    "better there, predicted; the change that saves most in the median of all cases stands first."
)


class Upgrades(Exhibit):
    """What half the latency, twice the bandwidth and so on would save, by application."""

    kind = "upgrades"
    summary = "which upgrade helps most: what each would save of each application's time, ranked"

    def figures(self, document: Document, spec: ExhibitSpec) -> list[Figure]:
        """Draw what is saved, and rank the upgrades for each application and platform."""
        kept = predictions_of(document, spec)
        if kept is None or not kept.upgrades:
            return []
        changes = ranked(kept.upgrades)
        return [
            self.figure(
                spec,
                title="Which upgrade helps most",
                notes=[_CAPTION],
                layer=SECTION,
                panels=[upgrades_chart(kept.upgrades, changes, looks(document.names))],
                summary=_summary(kept.upgrades, changes),
                table=_table(kept.upgrades, changes),
                data=[one.row() for one in kept.upgrades],
            )
        ]


def ranked(upgrades: Sequence[Upgrade]) -> list[str]:
    """Give the changes, the one that saves most in the median first."""
    saved: dict[str, list[float]] = {}
    for one in upgrades:
        saved.setdefault(one.change, []).append(one.saved)
    return sorted(saved, key=lambda change: -median(saved[change]))


def _summary(upgrades: Sequence[Upgrade], changes: Sequence[str]) -> str:
    parts = []
    for change in changes:
        values = [one.saved for one in upgrades if one.change == change]
        parts.append(f"{UPGRADES[change]} saves {median(values):.1%}, at most {max(values):.1%}")
    return f"In the median of all cases {'; '.join(parts)}."


def _table(upgrades: Sequence[Upgrade], changes: Sequence[str]) -> DataTable:
    cases: dict[tuple[str, str], dict[str, Upgrade]] = {}
    for one in upgrades:
        cases.setdefault((one.application, one.platform), {})[one.change] = one

    def best(case: dict[str, Upgrade]) -> Upgrade | None:
        most = max(case.values(), key=lambda one: one.saved)
        return most if most.saved >= _NOTABLE else None

    def saved(change: str) -> Callable[[dict[str, Upgrade]], Field]:
        def field(case: dict[str, Upgrade]) -> Field:
            found = case.get(change)
            if found is None:
                return Field("")
            tone: Tone = "better" if found is best(case) else ""
            return Field(percent(found.saved), found.saved, tone=tone)

        return field

    rows = Rows(cases.values())
    rows.text("application", lambda case: next(iter(case.values())).application)
    rows.platform(lambda case: next(iter(case.values())).platform)
    for change in changes:
        rows.column(f"{UPGRADES[change]} saves", saved(change))
    return rows.text(
        "helps most", lambda case: one.title if (one := best(case)) else "none"
    ).table()


EXHIBIT = Upgrades()
