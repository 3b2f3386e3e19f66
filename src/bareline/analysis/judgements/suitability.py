"""Judge platforms for classes of applications, by the rules in docs/method/suitability.md."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf

from bareline.analysis.judgements.evidence import NOT_COMPARABLE, Evidence
from bareline.analysis.judgements.published_evidence import published_grounds
from bareline.published.model import PublishedStudy
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.grouping import grouped_by
from bareline.vocabulary.verdicts import Grade

#: A ratio up to this is near native: at least 90 % of the baseline's performance is left.
NEAR_NATIVE = 1 / 0.9
#: A ratio up to this is bearable: at least half of the baseline's performance is left.
BEARABLE = 2.0


class Suitability(StrEnum):
    """Whether a platform suits a class of applications."""

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
    """How well the evidence supports an answer, the most certain first."""

    SURE = "sure"
    LIKELY = "likely"
    DOUBTFUL = "doubtful"
    NONE = ""


@dataclass(frozen=True, slots=True)
class ApplicationClass:
    """A class of applications whose speed is limited by the same resource.

    - `voided_by`: caveats that exclude a measurement from this class.
    """

    name: str
    title: str
    about: str
    voided_by: frozenset[str] = frozenset()


#: An emulated processor is tens of times slower than any processor that a cloud provides.
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
    """The kind of reason for an answer, which follows from measured or printed values."""

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

    - `basis`: the reason for the answer.
    - `shown`: the grounds (measurements or printed values) to print with the answer.
    - `grounds`: all grounds with a value, the worst first.
    - `voided`: grounds that caveats exclude for this class.
    - `of_measured`: the answer from `grounds` alone, without `failed`.
    - `failed`: grounds without a value because every launch failed.
    """

    application_class: ApplicationClass
    platform: str
    baseline: str
    answer: Suitability
    certainty: Certainty
    basis: Basis
    shown: tuple[Evidence, ...] = ()
    of_measured: Suitability = Suitability.NOT_MEASURED
    grounds: tuple[Evidence, ...] = ()
    failed: tuple[Evidence, ...] = ()
    voided: tuple[Evidence, ...] = ()
    caveats: tuple[Caveat, ...] = ()

    @property
    def words(self) -> str:
        """The answer in words, with its certainty unless this is "sure" or missing."""
        plain = (Certainty.SURE, Certainty.NONE)
        sure = self.certainty in plain
        if sure:
            return self.answer.value
        return f"{self.answer.value} ({self.certainty.value})"

    @property
    def mostly_failed(self) -> bool:
        """Whether the answer is unknown because at least half of the measurements failed.

        The answer "not suited" remains, because programs that do not run cannot improve it.
        """
        if self.of_measured is Suitability.UNSUITED:
            return False
        grounds = len(self.failed) + len(self.grounds)
        return 2 * len(self.failed) >= grounds > 0


def levels_of(ground: Evidence) -> tuple[Suitability, ...]:
    """Return the answers that the range of a measured or printed ratio allows, the best first."""
    best = _level_of(ground.lo or 0.0)
    worst = _level_of(ground.most)
    levels = _LEVELS[best : worst + 1]
    return tuple(answer for answer, _ in levels)


def _level_of(ratio: float) -> int:
    """Return the index of the first level of suitability that includes a ratio."""
    ends = [end for _, end in _LEVELS]
    return bisect.bisect_left(ends, ratio)


def judge_platforms(
    grounds: Iterable[Evidence], platforms: Sequence[str], baseline: str
) -> list[Judgement]:
    """Judge every class of applications on every platform; "not measured" without any value."""
    groups = grouped_by(grounds, lambda ground: (ground.application_class, ground.platform))
    judgements = []
    for kind, name in itertools.product(CLASSES, platforms):
        given = groups.get((kind.name, name), [])
        judgements.append(_judge(kind, name, baseline, given))
    return judgements


def _judge(
    kind: ApplicationClass, platform: str, baseline: str, given: Sequence[Evidence]
) -> Judgement:
    """Judge one class of applications on one platform.

    - `given`: the measured or printed values for this class and platform.
    """
    voided = [ground for ground in given if _is_voided(ground, kind)]
    usable = [ground for ground in given if ground not in voided]
    usable.sort(key=lambda ground: -(ground.hi or inf))
    measured = tuple(ground for ground in usable if not ground.failure)
    if not measured:
        judgement = _without_figures(kind, platform, baseline, usable, voided)
    else:
        failed = [part for part in usable if part.failure and part.failure != NOT_COMPARABLE]
        answer, basis, main_grounds = _answer(measured)
        judgement = Judgement(
            application_class=kind,
            platform=platform,
            baseline=baseline,
            answer=answer,
            certainty=_certainty(answer, measured),
            basis=basis,
            shown=main_grounds,
            of_measured=answer,
            grounds=measured,
            failed=tuple(failed),
        )
        judgement = _weakened_by_failures(judgement)
    caveats = itertools.chain.from_iterable(ground.caveats for ground in given)
    different = dict.fromkeys(caveats)
    return replace(judgement, voided=tuple(voided), caveats=tuple(different))


def _is_voided(ground: Evidence, kind: ApplicationClass) -> bool:
    """Whether a measured or printed value does not count for a class of applications.

    A caveat in the class's `voided_by` excludes the value if most trials have this caveat.
    """
    return any(caveat.code in kind.voided_by and caveat.for_most for caveat in ground.caveats)


def _without_figures(
    kind: ApplicationClass,
    platform: str,
    baseline: str,
    usable: Sequence[Evidence],
    voided: Sequence[Evidence],
) -> Judgement:
    """Return the judgement, with its reason, of a class of applications without usable values."""
    answer = Suitability.NOT_MEASURED
    if usable:
        basis = Basis.WITHOUT
    else:
        basis = Basis.ABSENT
    if voided:
        answer = Suitability.CANNOT_TELL
        basis = Basis.VOIDED
    return Judgement(kind, platform, baseline, answer, Certainty.NONE, basis, tuple(usable))


def _weakened_by_failures(judgement: Judgement) -> Judgement:
    """Return the judgement with less certainty if measurements failed or launches crashed."""
    if judgement.failed:
        if judgement.mostly_failed:
            return replace(judgement, answer=Suitability.CANNOT_TELL, certainty=Certainty.NONE)
        if judgement.answer is Suitability.CANNOT_TELL:
            return judgement
        return replace(judgement, certainty=Certainty.DOUBTFUL)
    if any(ground.crashed[0] for ground in judgement.grounds):
        order = list(Certainty)
        least = max(judgement.certainty, Certainty.DOUBTFUL, key=order.index)
        return replace(judgement, certainty=least)
    return judgement


def _answer(grounds: Sequence[Evidence]) -> tuple[Suitability, Basis, tuple[Evidence, ...]]:
    allowed = {ground: levels_of(ground) for ground in grounds}
    decided = []
    undecided = []
    for ground, levels in allowed.items():
        if len(levels) == 1:
            decided.append(ground)
        elif levels:
            undecided.append(ground)
    answers = {allowed[ground][0] for ground in decided}
    # A range over several programs or sizes that spans answers is enough for "depends".
    split = [ground for ground in undecided if ground.varies]
    if len(answers) > 1 or split:
        ends = _ends([*decided, *split])
        return Suitability.DEPENDS, Basis.ENDS, ends
    if not decided:
        return Suitability.CANNOT_TELL, Basis.OPEN, tuple(grounds)
    (answer,) = answers
    if 2 * len(undecided) > len(grounds):
        undecided.sort(key=lambda ground: -(ground.ratio or ground.lo or 0.0))
        return Suitability.CANNOT_TELL, Basis.FEW, tuple(undecided)
    against = [ground for ground, levels in allowed.items() if answer not in levels]
    if against:
        ends_of_open = _ends([grounds[0], grounds[-1], *against])
        return Suitability.DEPENDS, Basis.ENDS, ends_of_open
    return answer, Basis.WORST, (decided[0],)


def _ends(grounds: Sequence[Evidence]) -> tuple[Evidence, ...]:
    best = min(grounds, key=_best_end)
    worst = max(grounds, key=_worst_end)
    if best == worst:
        return (best,)
    return (best, worst)


def _best_end(ground: Evidence) -> float:
    """Return the bound of a ratio by which the best of several ratios is chosen.

    This is the upper bound; for a range over programs or sizes, it is the lower bound.
    """
    end = ground.hi
    if ground.varies:
        end = ground.lo
    if end is None:
        return inf
    return end


def _worst_end(ground: Evidence) -> float:
    """Return the bound of a ratio by which the worst of several ratios is chosen.

    This is the lower bound; for a range over programs or sizes, it is the upper bound.
    """
    end = ground.lo
    if ground.varies:
        end = ground.hi
    return end or 0.0


def _certainty(answer: Suitability, grounds: Sequence[Evidence]) -> Certainty:
    if answer is Suitability.CANNOT_TELL:
        return Certainty.NONE
    if all(ground.weakened for ground in grounds):
        return Certainty.DOUBTFUL
    if all(_is_sure(ground) for ground in grounds):
        return Certainty.SURE
    return Certainty.LIKELY


def _is_sure(ground: Evidence) -> bool:
    """Whether a value is certain and exact, and allows only one answer.

    A range over several programs or sizes may allow several answers.
    """
    if len(levels_of(ground)) > 1 and not ground.varies:
        return False
    if ground.weakened or ground.approximate:
        return False
    return ground.grade not in (Grade.LIKELY, Grade.OPEN)


def judge_published(study: PublishedStudy) -> list[Judgement]:
    """Judge the platforms of a publication by its own values."""
    grounds = published_grounds(study)
    names = dict.fromkeys(ground.platform for ground in grounds)
    platforms = list(names)
    against = {platform.id: platform.against or "" for platform in study.platforms}
    judgements = []
    for platform in platforms:
        baseline = against.get(platform, "")
        judgements += judge_platforms(grounds, [platform], baseline)
    return judgements
