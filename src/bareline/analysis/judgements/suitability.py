"""What a platform suits: application classes judged by declared rules from measured losses.

The publications end with such statements: fine for embarrassingly parallel codes, not for codes
that wait for small messages. Here each is an answer with its grounds. docs/method/suitability.md
gives the rules; nothing is said that no interval says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from bareline.analysis.judgements.grounds import (
    NOT_COMPARABLE,
    Ground,
    measured_grounds,
    published_grounds,
)
from bareline.analysis.numbers.cell import Cell
from bareline.published.model import PublishedStudy
from bareline.vocabulary.caveats import Caveat, widest
from bareline.vocabulary.units import listing, significant
from bareline.vocabulary.verdicts import Grade

#: Nothing worse than this is near native: at least 90 % of the baseline's performance is left.
NEAR_NATIVE = 1 / 0.9
#: Nothing worse than this is bearable: at least half of the baseline's performance is left.
BEARABLE = 2.0


class Answer(StrEnum):
    """Whether a class of applications is well placed on a platform."""

    SUITED = "suited"
    COSTLY = "suited at a cost"
    UNSUITED = "not suited"
    DEPENDS = "depends"
    CANNOT_TELL = "cannot tell"
    NOT_MEASURED = "not measured"


#: The decided answers, best first, each with the worst ratio that it still covers.
_LEVELS: tuple[tuple[Answer, float], ...] = (
    (Answer.SUITED, NEAR_NATIVE),
    (Answer.COSTLY, BEARABLE),
    (Answer.UNSUITED, inf),
)

_MEANING: Mapping[Answer, str] = {
    Answer.SUITED: "at least 90 % of the performance is left",
    Answer.COSTLY: "between half and 90 % of the performance is left",
    Answer.UNSUITED: "less than half of the performance is left",
}


class Certainty(StrEnum):
    """How far the grounds carry an answer."""

    SURE = "sure"
    LIKELY = "likely"
    DOUBTFUL = "doubtful"
    NONE = ""


@dataclass(frozen=True, slots=True)
class ApplicationClass:
    """A class of applications by what limits them.

    - `name`, `title`: its code and its name in a table.
    - `about`: what such applications are.
    - `voided_by`: caveats under which a figure says nothing about this class.
    """

    name: str
    title: str
    about: str
    voided_by: frozenset[str] = frozenset()


#: An emulated processor computes tens of times slower than any that a cloud would give.
_EMULATED = frozenset({"emulated-cpu"})
#: What was not on the device says nothing about it.
_NO_DEVICE = frozenset({"memory-file-system", "page-cache", "not-direct", "not-synced", "own-data"})

#: The classes in the order of the table.
CLASSES: tuple[ApplicationClass, ...] = (
    ApplicationClass(
        "parallel",
        "embarrassingly parallel",
        "every core computes for itself, results are collected once",
        _EMULATED | {"oversubscribed"},
    ),
    ApplicationClass(
        "compute", "compute-bound", "floating-point arithmetic on data in caches", _EMULATED
    ),
    ApplicationClass("memory", "memory-bound", "data streams from memory", _EMULATED),
    ApplicationClass(
        "large", "large messages", "transposes, borders of large domains, transfers of files"
    ),
    ApplicationClass(
        "small",
        "small-message collectives",
        "sums and barriers after every step, pipelines of small messages",
        frozenset({"oversubscribed"}),
    ),
    ApplicationClass("io", "I/O-bound", "files are written and read most of the time", _NO_DEVICE),
    ApplicationClass(
        "coupled",
        "tightly coupled, whole programs",
        "kernels and applications that compute and communicate",
        _EMULATED | {"oversubscribed"},
    ),
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one platform means for one class of applications.

    - `grounds`: what it rests on, the worst first; those that a caveat voids are not among them.
    - `voided`: grounds that say nothing about this class, because of their caveats.
    - `reason`: the answer in words, with its figures.
    """

    application_class: ApplicationClass
    platform: str
    baseline: str
    answer: Answer
    certainty: Certainty
    reason: str
    grounds: tuple[Ground, ...] = ()
    voided: tuple[Ground, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    @property
    def words(self) -> str:
        """The answer with its certainty, where that is less than sure."""
        sure = self.certainty in (Certainty.SURE, Certainty.NONE)
        return self.answer.value if sure else f"{self.answer.value} ({self.certainty.value})"

    def row(self) -> dict[str, object]:
        """Give it as a plain row for ``--json``."""
        return {
            "class": self.application_class.name,
            "title": self.application_class.title,
            "platform": self.platform,
            "baseline": self.baseline,
            "answer": self.answer.value,
            "certainty": self.certainty.value,
            "reason": self.reason,
            "caveats": [str(caveat) for caveat in self.caveats],
            "grounds": [ground.row() for ground in self.grounds],
            "voided": [ground.row() for ground in self.voided],
        }


def levels_of(ground: Ground) -> tuple[Answer, ...]:
    """Give the answers that a ground allows: one where its whole span gives the same."""
    low = 0.0 if ground.lo is None else ground.lo
    high = inf if ground.hi is None else ground.hi
    best = next(number for number, (_, end) in enumerate(_LEVELS) if low <= end)
    worst = next(number for number, (_, end) in enumerate(_LEVELS) if high <= end)
    return tuple(answer for answer, _ in _LEVELS[best : worst + 1])


def judge_platforms(
    grounds: Iterable[Ground], platforms: Sequence[str], baseline: str
) -> list[Judgement]:
    """Judge every class on every platform; a class without grounds is "not measured"."""
    found: dict[tuple[str, str], list[Ground]] = {}
    for ground in grounds:
        found.setdefault((ground.application_class, ground.platform), []).append(ground)
    return [
        _judge(kind, name, baseline, found.get((kind.name, name), []))
        for kind in CLASSES
        for name in platforms
    ]


def _judge(
    kind: ApplicationClass, platform: str, baseline: str, given: Sequence[Ground]
) -> Judgement:
    voided = tuple(ground for ground in given if _voids(kind, ground))
    usable = tuple(
        sorted(
            (ground for ground in given if ground not in voided),
            key=lambda ground: -(ground.hi or inf),
        )
    )
    caveats = tuple(dict.fromkeys(code for ground in given for code in ground.caveats))
    measured = tuple(ground for ground in usable if not ground.failure)
    failed = [g for g in usable if g.failure and g.failure != NOT_COMPARABLE]
    if not measured:
        answer, reason = _without(kind, usable, voided)
        certainty = Certainty.NONE
    else:
        answer, reason = _answer(measured)
        certainty = _certainty(answer, measured)
        if failed:
            answer, certainty, reason = _beside_failed(answer, reason, failed, measured)
        elif crashed := list(dict.fromkeys(g.crashed for g in measured if g.crashed)):
            certainty = min(certainty, Certainty.DOUBTFUL, key=_weaker)
            reason = f"{reason}; {listing(crashed)}"
    return Judgement(kind, platform, baseline, answer, certainty, reason, measured, voided, caveats)


def _voids(kind: ApplicationClass, ground: Ground) -> bool:
    """Tell whether a caveat of most trials says that a ground means nothing for a class."""
    return any(caveat.code in kind.voided_by and caveat.for_most for caveat in ground.caveats)


def _beside_failed(
    answer: Answer, reason: str, failed: Sequence[Ground], measured: Sequence[Ground]
) -> tuple[Answer, Certainty, str]:
    """Say what an answer is worth where other grounds of its class failed.

    What does not run at all makes nothing better: a loss stays one. Otherwise nothing is known of
    the class where half of it failed, and little where less did.
    """
    every = len(failed) + len(measured)
    probes = listing(list(dict.fromkeys(ground.probe or ground.subject for ground in failed)))
    told = f"{len(failed)} of {every} failed in every launch ({probes})"
    if answer is not Answer.UNSUITED and 2 * len(failed) >= every:
        return Answer.CANNOT_TELL, Certainty.NONE, f"{told}; of the rest: {reason}"
    certainty = Certainty.NONE if answer is Answer.CANNOT_TELL else Certainty.DOUBTFUL
    return answer, certainty, f"{reason}; {told}"


def _without(
    kind: ApplicationClass, failed: Sequence[Ground], voided: Sequence[Ground]
) -> tuple[Answer, str]:
    """Say why there is nothing to judge by."""
    if voided:
        caveats = widest(caveat for ground in voided for caveat in ground.caveats)
        why = "; ".join(c.text for c in caveats if c.code in kind.voided_by)
        return Answer.CANNOT_TELL, f"what was measured says nothing here ({why})"
    if failed:
        words = listing(list(dict.fromkeys(ground.failure for ground in failed)))
        told = listing(list(dict.fromkeys(ground.probe or ground.subject for ground in failed)))
        return Answer.NOT_MEASURED, f"{words}: {told}"
    return Answer.NOT_MEASURED, "the study measures nothing of this kind here"


def _answer(grounds: Sequence[Ground]) -> tuple[Answer, str]:
    allowed = {ground: levels_of(ground) for ground in grounds}
    decided = {levels[0] for levels in allowed.values() if len(levels) == 1}
    # A range over several programs or sizes that spans answers depends by itself.
    split = [ground for ground, levels in allowed.items() if len(levels) > 1 and ground.varies]
    if len(decided) > 1 or split:
        ends = [*(ground for ground, levels in allowed.items() if len(levels) == 1), *split]
        return Answer.DEPENDS, _from_to(ends)
    if not decided:
        lows = [ground.lo or 0.0 for ground in grounds]
        highs = [inf if ground.hi is None else ground.hi for ground in grounds]
        return Answer.CANNOT_TELL, _open(max(lows), max(highs), grounds)
    (answer,) = decided
    undecided = [ground for ground, levels in allowed.items() if len(levels) > 1]
    if 2 * len(undecided) > len(grounds):
        most = max(undecided, key=lambda ground: ground.ratio or ground.lo or 0.0)
        told = f"{len(undecided)} of {len(grounds)} figures do not decide"
        return Answer.CANNOT_TELL, f"{told}, most: {most.words}"
    against = [ground for ground, levels in allowed.items() if answer not in levels]
    if against:
        return Answer.DEPENDS, _from_to([grounds[0], grounds[-1], *against])
    worst = next(ground for ground in grounds if len(allowed[ground]) == 1)
    return answer, f"{_MEANING[answer]}; worst: {worst.words}"


def _from_to(grounds: Sequence[Ground]) -> str:
    """Name both ends: what is surely best, and what is surely worst or was seen to be."""

    def best_of(ground: Ground) -> float:
        end = ground.lo if ground.varies else ground.hi
        return inf if end is None else end

    def worst_of(ground: Ground) -> float:
        return (ground.hi if ground.varies else ground.lo) or 0.0

    best, worst = min(grounds, key=best_of), max(grounds, key=worst_of)
    if best == worst:
        return best.words
    return f"from {best.words}, to {worst.words}"


def _open(low: float, high: float, grounds: Sequence[Ground]) -> str:
    end = "" if high == inf else f" and at most {significant(high)}"
    start = f"at least {significant(low)}" if low else ""
    limits = f"{start}{end}".removeprefix(" and ")
    told = f"{limits} times worse: " if limits else ""
    return f"{told}{grounds[0].words}: that does not decide"


def _weaker(certainty: Certainty) -> int:
    """Order certainties, the weakest first."""
    return (Certainty.NONE, Certainty.DOUBTFUL, Certainty.LIKELY, Certainty.SURE).index(certainty)


def _certainty(answer: Answer, grounds: Sequence[Ground]) -> Certainty:
    if answer is Answer.CANNOT_TELL:
        return Certainty.NONE
    if all(ground.weakened for ground in grounds):
        return Certainty.DOUBTFUL
    whole = all(len(levels_of(ground)) == 1 or ground.varies for ground in grounds)
    if whole and not any(
        ground.weakened or ground.approximate or ground.grade in (Grade.LIKELY, Grade.OPEN)
        for ground in grounds
    ):
        return Certainty.SURE
    return Certainty.LIKELY


def judge_measured(
    cells: Sequence[Cell],
    titles: Mapping[str, str],
    platforms: Sequence[str],
    baseline: str,
    *,
    emulated: Collection[str] = (),
) -> list[Judgement]:
    """Judge platforms by what was measured; see `measured_grounds`."""
    return judge_platforms(measured_grounds(cells, titles, emulated), platforms, baseline)


def judge_published(study: PublishedStudy) -> list[Judgement]:
    """Judge the platforms of a publication by its own figures."""
    grounds = published_grounds(study)
    platforms = list(dict.fromkeys(ground.platform for ground in grounds))
    return [
        judgement
        for platform in platforms
        for judgement in judge_platforms(grounds, [platform], _against(study, platform))
    ]


def _against(study: PublishedStudy, platform: str) -> str:
    found = study.platform(platform)
    return (found and found.against) or ""
