"""Verdicts: the results of a comparison, with the same words in tables, JSON and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from bareline.vocabulary.model import Layer

#: Below six launches neither the median nor the signed-rank method has a 95 % interval, so that
#: there is no verdict either.
MIN_LAUNCHES = 6

#: Relative difference that does not matter, if the study does not declare another one: 2 %.
DEFAULT_MARGIN = 0.02

#: Target for the relative half-width of a median's 95 % interval where a study declares none:
#: applications are fewer and longer than micro-benchmarks.
DEFAULT_PRECISION: Mapping[Layer, float] = {
    **dict.fromkeys(Layer, 0.02),
    Layer.NPB: 0.03,
    Layer.APP: 0.03,
}


class Verdict(StrEnum):
    """The result of a comparison of one point, or of several points together.

    - Several points are mixed if some are certainly slower and some certainly faster.
    - Values of different layouts, or of an emulated processor, are not comparable.
    - A case does not fit, and the plan leaves it out, if a platform has too few nodes or cores, or
      is of the wrong kind.
    - A case that needs a missing program was skipped.
    """

    SLOWER = "slower"
    FASTER = "faster"
    EQUIVALENT = "equivalent"
    INCONCLUSIVE = "inconclusive"
    MIXED = "mixed"
    NOT_COMPARABLE = "not-comparable"
    MISSING = "missing"
    DOES_NOT_FIT = "does-not-fit"
    SKIPPED = "skipped"
    FAILED = "failed"

    @property
    def decided(self) -> bool:
        """Whether the verdict claims a difference."""
        return self in (Verdict.SLOWER, Verdict.FASTER, Verdict.MIXED)

    @property
    def words(self) -> str:
        """The verdict as a reader sees it: sentences and tables use the same word."""
        if self is Verdict.EQUIVALENT:
            return "equal"
        if self is Verdict.INCONCLUSIVE:
            return "undecided"
        return self.value.replace("-", " ")


class Grade(StrEnum):
    """How certain the comparison of one point, or of several points together, is.

    With 95 % confidence, all certain differences of a page are true at once. A likely difference is
    wrong in one of twenty cases. The ratio gives the direction of a certain or likely difference.
    For an open comparison, only the interval is known.
    """

    CERTAIN = "certain"
    LIKELY = "likely"
    OPEN = "open"
    EQUAL = "equal"
    FAILED = "failed"
    MISSING = "missing"
    NOT_COMPARABLE = "not-comparable"

    @property
    def is_claim(self) -> bool:
        """Whether a difference is claimed."""
        return self in (Grade.CERTAIN, Grade.LIKELY)


_GRADES = {
    Verdict.EQUIVALENT: Grade.EQUAL,
    Verdict.INCONCLUSIVE: Grade.OPEN,
    Verdict.FAILED: Grade.FAILED,
    Verdict.NOT_COMPARABLE: Grade.NOT_COMPARABLE,
}


class DecisionRule(StrEnum):
    """The rule that decided a row: the reason for its verdict and grade."""

    REFUSED = "refused"
    FAILED = "failed"
    SKIPPED = "skipped"
    DOES_NOT_FIT = "does not fit"
    MISSING = "missing"
    NO_DIRECTION = "no direction"
    LAUNCHES_LOST = "launches lost"
    WITHIN_CONTROL = "within control"
    FAMILY_TEST = "family test"
    DISCOVERY_RATE = "false discovery rate"
    EQUAL = "equal"
    BOUND = "bound"


def sure_words(grade: Grade | None, *, few_boots: bool) -> str:
    """Return the words before an amount, such as "likely in these boots "; empty if certain."""
    if grade is not Grade.LIKELY:
        return ""
    return "likely in these boots " if few_boots else "likely "


def with_sureness(word: str, grade: Grade | None, *, few_boots: bool) -> str:
    """Return a verdict's word with its certainty: ``likely slower in these boots``."""
    if grade is not Grade.LIKELY:
        return word
    return f"likely {word} in these boots" if few_boots else f"likely {word}"


def grade_of(verdict: Verdict, *, sure: bool) -> Grade:
    """Return the grade of a verdict.

    - `sure`: whether the difference is certain when all comparisons of the page are considered.
    """
    if verdict.decided:
        return Grade.CERTAIN if sure else Grade.LIKELY
    return _GRADES.get(verdict, Grade.MISSING)


#: Words that conditions accept for a verdict, in addition to the verdicts: "slower" is odd for a
#: rate, and people write "worse".
SYNONYMS: Mapping[str, Verdict] = {
    "worse": Verdict.SLOWER,
    "better": Verdict.FASTER,
    "equal": Verdict.EQUIVALENT,
    "undecided": Verdict.INCONCLUSIVE,
}


def parse_verdict(word: str) -> Verdict | None:
    """Return the verdict that a word or its synonym names; None for any other word."""
    verdicts = {verdict.value: verdict for verdict in Verdict}
    return verdicts.get(word, SYNONYMS.get(word))
