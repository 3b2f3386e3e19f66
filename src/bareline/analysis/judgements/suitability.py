"""Suitability of platforms for classes of applications, by rules in docs/method/suitability.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from bareline.analysis.judgements.grounds import NOT_COMPARABLE, Ground, published_grounds
from bareline.published.model import PublishedStudy
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.verdicts import Grade

#: Nothing worse than this is near native: at least 90 % of the baseline's performance is left.
NEAR_NATIVE = 1 / 0.9
#: Nothing worse than this is bearable: at least half of the baseline's performance is left.
BEARABLE = 2.0


class Suitability(StrEnum):
    """Whether a class of applications is well placed on a platform."""

    SUITED = "suited"
    COSTLY = "suited at a cost"
    UNSUITED = "not suited"
    DEPENDS = "depends"
    CANNOT_TELL = "cannot tell"
    NOT_MEASURED = "not measured"


#: The decided answers, best first, each with the worst ratio that it still covers.
_LEVELS: tuple[tuple[Suitability, float], ...] = (
    (Suitability.SUITED, NEAR_NATIVE),
    (Suitability.COSTLY, BEARABLE),
    (Suitability.UNSUITED, inf),
)


class Certainty(StrEnum):
    """How well the grounds support an answer, the surest first."""

    SURE = "sure"
    LIKELY = "likely"
    DOUBTFUL = "doubtful"
    NONE = ""


@dataclass(frozen=True, slots=True)
class ApplicationClass:
    """Applications with the same limit; a figure with a caveat of `voided_by` does not count."""

    name: str
    title: str
    about: str
    voided_by: frozenset[str] = frozenset()


#: An emulated processor computes tens of times slower than any that a cloud would give.
_EMULATED = frozenset({"emulated-cpu"})
#: Data that was not on the device is not evidence about it.
_NO_DEVICE = frozenset({"memory-file-system", "page-cache", "not-direct", "not-synced", "own-data"})

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


class Basis(StrEnum):
    """The basis of an answer, with the grounds that show it."""

    VOIDED = "all grounds are voided"
    WITHOUT = "no ground has a figure"
    ABSENT = "there are no grounds"
    ENDS = "the best and the worst"
    OPEN = "no ground decides"
    FEW = "most grounds do not decide; the worst of these"
    WORST = "the worst"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The suitability of one platform for one class of applications.

    - `basis`, `shown`: the basis of the answer, and the grounds that show it.
    - `grounds`: all grounds with a figure, the worst first, except those `voided` for this class by
      caveats.
    - `of_measured`: the answer from `grounds` alone, without those that `failed` in every launch.
    """

    application_class: ApplicationClass
    platform: str
    baseline: str
    answer: Suitability
    certainty: Certainty
    basis: Basis
    shown: tuple[Ground, ...] = ()
    of_measured: Suitability = Suitability.NOT_MEASURED
    grounds: tuple[Ground, ...] = ()
    failed: tuple[Ground, ...] = ()
    voided: tuple[Ground, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    @property
    def words(self) -> str:
        """The answer with its certainty, where that is less than sure."""
        sure = self.certainty in (Certainty.SURE, Certainty.NONE)
        return self.answer.value if sure else f"{self.answer.value} ({self.certainty.value})"

    @property
    def mostly_failed(self) -> bool:
        """Whether the answer is unknown because at least half of its grounds failed.

        Programs that do not run improve nothing: "not suited" stays the answer.
        """
        every = len(self.failed) + len(self.grounds)
        return self.of_measured is not Suitability.UNSUITED and 2 * len(self.failed) >= every > 0


def levels_of(ground: Ground) -> tuple[Suitability, ...]:
    """Return the answers that a ground allows: one where its whole span gives the same."""
    low, high = ground.lo or 0.0, inf if ground.hi is None else ground.hi
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
    # A caveat of most trials makes a ground meaningless for a class.
    voided = tuple(
        ground
        for ground in given
        if any(caveat.code in kind.voided_by and caveat.for_most for caveat in ground.caveats)
    )
    usable = sorted(
        (ground for ground in given if ground not in voided), key=lambda ground: -(ground.hi or inf)
    )
    caveats = tuple(dict.fromkeys(code for ground in given for code in ground.caveats))
    measured = tuple(ground for ground in usable if not ground.failure)
    if not measured:
        answer = Suitability.CANNOT_TELL if voided else Suitability.NOT_MEASURED
        basis = Basis.VOIDED if voided else Basis.WITHOUT if usable else Basis.ABSENT
        return Judgement(
            kind, platform, baseline, answer, Certainty.NONE, basis, tuple(usable), voided=voided,
            caveats=caveats,
        )  # fmt: skip
    answer, basis, shown = _answer(measured)
    found = Judgement(
        kind, platform, baseline, answer, _certainty(answer, measured), basis, shown, answer,
        measured, tuple(g for g in usable if g.failure and g.failure != NOT_COMPARABLE), voided,
        caveats,
    )  # fmt: skip
    if found.failed and found.mostly_failed:
        return replace(found, answer=Suitability.CANNOT_TELL, certainty=Certainty.NONE)
    if found.failed and answer is not Suitability.CANNOT_TELL:
        return replace(found, certainty=Certainty.DOUBTFUL)
    if not found.failed and any(ground.crashed[0] for ground in measured):
        least = max(found.certainty, Certainty.DOUBTFUL, key=[*Certainty].index)
        return replace(found, certainty=least)
    return found


def _answer(grounds: Sequence[Ground]) -> tuple[Suitability, Basis, tuple[Ground, ...]]:
    allowed = {ground: levels_of(ground) for ground in grounds}
    decided = [ground for ground, levels in allowed.items() if len(levels) == 1]
    undecided = [ground for ground, levels in allowed.items() if len(levels) > 1]
    answers = {allowed[ground][0] for ground in decided}
    # A range over several programs or sizes that spans answers is enough for "depends".
    split = [ground for ground in undecided if ground.varies]
    if len(answers) > 1 or split:
        return Suitability.DEPENDS, Basis.ENDS, _ends([*decided, *split])
    if not decided:
        return Suitability.CANNOT_TELL, Basis.OPEN, tuple(grounds)
    (answer,) = answers
    if 2 * len(undecided) > len(grounds):
        undecided.sort(key=lambda ground: -(ground.ratio or ground.lo or 0.0))
        return Suitability.CANNOT_TELL, Basis.FEW, tuple(undecided)
    against = [ground for ground, levels in allowed.items() if answer not in levels]
    if against:
        return Suitability.DEPENDS, Basis.ENDS, _ends([grounds[0], grounds[-1], *against])
    return answer, Basis.WORST, (decided[0],)


def _ends(grounds: Sequence[Ground]) -> tuple[Ground, ...]:
    def best_of(ground: Ground) -> float:
        end = ground.lo if ground.varies else ground.hi
        return inf if end is None else end

    def worst_of(ground: Ground) -> float:
        return (ground.hi if ground.varies else ground.lo) or 0.0

    best, worst = min(grounds, key=best_of), max(grounds, key=worst_of)
    return (best,) if best == worst else (best, worst)


def _certainty(answer: Suitability, grounds: Sequence[Ground]) -> Certainty:
    if answer is Suitability.CANNOT_TELL:
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


def judge_published(study: PublishedStudy) -> list[Judgement]:
    """Judge the platforms of a publication by its own figures."""
    grounds = published_grounds(study)
    platforms = list(dict.fromkeys(ground.platform for ground in grounds))
    against = {one.id: one.against or "" for one in study.platforms}
    return [
        judgement
        for platform in platforms
        for judgement in judge_platforms(grounds, [platform], against.get(platform, ""))
    ]
