"""The planned looks (interim analyses) of a run, and whether they answer its question."""

from __future__ import annotations

from collections.abc import Sequence

from bareline.session.meter import expected_s
from bareline.store.run import Run
from bareline.study.study import Study
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.looks import PlannedLook, look_words, spending
from bareline.vocabulary.model import Trial
from bareline.vocabulary.units import listing
from bareline.vocabulary.verdicts import Grade

#: Grades that more launches may still decide.
_UNDECIDED = (Grade.OPEN, Grade.LIKELY)


def planned_looks(study: Study, plan: Sequence[Trial], blocks: int = 0) -> list[PlannedLook]:
    """Return the planned looks (interim analyses) of a study; empty if it plans none.

    - `blocks`: the number of blocks that the run has measured.
    """
    looks = study.looks or []
    rows: list[PlannedLook] = []
    for look, alpha in zip(looks, spending(len(looks)), strict=True):
        trials = [trial for trial in plan if trial.block < look]
        seconds = expected_s(study, plan, trials)
        rows.append(
            {
                "blocks": look,
                "alpha": alpha,
                "trials": len(trials),
                "expected_s": None if seconds is None else round(seconds, 1),
                "reached": look <= blocks,
            }
        )
    return rows


def look_lines(study: Study, looks: Sequence[PlannedLook]) -> list[str]:
    """Return the planned looks (interim analyses) as lines for people; empty without looks."""
    if not looks:
        return []
    first = looks[0]["blocks"]
    again = sorted(study.asked_probes)
    lines = [look_words(look) for look in looks]
    if len(looks) > 1:
        lines.append(
            f"after {first} blocks only {listing(again)} is launched again, until the question is "
            "answered at a look"
        )
    return lines


def answers_its_question(run: Run) -> bool:
    """Whether all compared rows of a run's question are decided; false without such rows.

    A row is undecided if its difference is open or only likely.
    """
    from bareline.analysis.numbers.records import read_runs
    from bareline.analysis.words.comparison import Comparison

    try:
        comparison = Comparison(read_runs([run]))
        if comparison.alone:
            return False
        rows = [cell for cell in comparison.asked if cell.grade is not None]
    except BarelineError:
        return False  # a comparison of the run reports the reason
    return bool(rows) and not any(row.grade in _UNDECIDED for row in rows)
