"""Which upgrade helps most: what each change of a platform would save of an application's time."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from bareline.predict.questions import UPGRADES, Upgrade
from bareline.report.content.anchors import slug
from bareline.report.content.document import Document
from bareline.report.exhibits.base import Exhibit, predictions_of
from bareline.report.figures.figure import Column, DataTable, Field, Figure
from bareline.report.figures.predictions import SECTION, upgrades_chart
from bareline.report.figures.theme import looks
from bareline.vocabulary.exhibit import ExhibitSpec

#: Below this an upgrade is none.
_NOTABLE = 0.005


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
            Figure(
                id=slug("upgrades", spec.title),
                title=spec.title or "Which upgrade helps most",
                caption=" ".join(filter(None, [spec.caption, _CAPTION])),
                layer=SECTION,
                wide=True,
                panels=(upgrades_chart(kept.upgrades, changes, looks(document.names)),),
                text_summary=_summary(kept.upgrades, changes),
                data_table=_table(kept.upgrades, changes),
                data=tuple(one.row() for one in kept.upgrades),
            )
        ]


_CAPTION = (
    "The share of its time that each application would save on a platform if one thing alone were "
    "better there, predicted; the change that saves most in the median of all cases stands first."
)


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
    columns = (
        Column("application", "text"),
        Column("platform", "text"),
        *(Column(f"{UPGRADES[change]} saves") for change in changes),
        Column("helps most", "text"),
    )
    cases: dict[tuple[str, str], dict[str, Upgrade]] = {}
    for one in upgrades:
        cases.setdefault((one.application, one.platform), {})[one.change] = one
    rows = []
    for (application, platform), own in cases.items():
        best = max(own.values(), key=lambda one: one.saved)
        fields = [Field(application), Field(platform, platform=platform)]
        for change in changes:
            found = own.get(change)
            fields.append(
                Field("")
                if found is None
                else Field(
                    f"{100 * found.saved:.1f} %",
                    found.saved,
                    tone="better" if found is best and found.saved >= _NOTABLE else "",
                )
            )
        fields.append(Field(best.title if best.saved >= _NOTABLE else "none"))
        rows.append(tuple(fields))
    return DataTable(columns, tuple(rows))


EXHIBIT = Upgrades()
