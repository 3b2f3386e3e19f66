"""Caveats: the reasons to doubt a number.

In records and tables a caveat is a short text. `Caveat.read` parses this text and ``str`` writes
it; no other code interprets it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bareline.vocabulary.verdicts import MIN_LAUNCHES


def _table(column: str) -> Mapping[str, str]:
    return {
        code: row[column].replace("{least}", str(MIN_LAUNCHES))
        for code, row in _ROWS.items()
        if column in row
    }


_ROWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
CAVEATS = _table("text")
_BRIEF = _table("brief")
_NEXT = _table("next")

#: Disturbances of a trial: their name in a list, by the code of the caveat.
DISTURBANCES: Mapping[str, str] = {
    "busy-machine": "other programs' load",
    "steal-time": "stolen processor time",
    "two-speeds": "a change of speed",
    "throttled": "throttling",
}

#: Codes of caveats that carry a detail or a number, which a bare code in a record cannot express.
OTHER_LAYOUT = "other layout"  # different from the baseline; the detail names both layouts
NOT_VERIFIED = "not verified"  # the detail is the reason why there is no reference value
FAILED_TRIALS = "trials failed"  # the number counts failed trials of the case
LOST_LAUNCHES = "launches lost to a time limit count as slower than all"
#: The platform's launcher failed to start ranks, and the launch was repeated.
STARTUP_REPEATED = "startup-repeated"
#: A caveat without a code: the words of a probe, or the reason why something was left out.
IN_WORDS = "in words"

#: The request was not met; the detail names the request and the observation.
OTHER_PLACEMENT = "ranks placed otherwise"
OTHER_TRANSPORT = "MPI talks otherwise"
OTHER_MPI = "another MPI library"
#: bareline's programs were compiled differently on the baseline; the detail names both builds.
OTHER_BUILD = "compiled otherwise"
_NOT_AS_ASKED = (OTHER_PLACEMENT, OTHER_TRANSPORT, OTHER_MPI)

_WITH_DETAIL = (OTHER_LAYOUT, NOT_VERIFIED, OTHER_BUILD, *_NOT_AS_ASKED)
_WITH_NUMBER = (FAILED_TRIALS, LOST_LAUNCHES)
_OF_ONE = {
    FAILED_TRIALS: "1 trial failed",
    LOST_LAUNCHES: "1 launch lost to a time limit counts as slower than all",
}

#: From this share of the trials on, a caveat applies to the figure and may void its verdict.
MOST_TRIALS = 0.5

_SHARE = re.compile(r"(?P<text>.*) \((?P<some>\d+) of (?P<trials>\d+) trials\)", re.DOTALL)
_NUMBER = re.compile(rf"(?P<some>\d+) (?P<code>{'|'.join(map(re.escape, _WITH_NUMBER))})")


@dataclass(frozen=True, slots=True)
class Caveat:
    """A reason to doubt a number.

    - `code`: a key of `CAVEATS`, the code of a caveat with a detail or a number, or `IN_WORDS` (the
      detail is then the whole text).
    - `detail`: the part that the code does not imply, for example two layouts or a reason.
    - `some`: the number of trials with the caveat.
    - `trials`: the number of all trials. If both numbers are 0, all trials have the caveat. If only
      this number is 0, the caveat is a count, such as the number of failed trials.
    """

    code: str
    detail: str = ""
    some: int = 0
    trials: int = 0

    @staticmethod
    @lru_cache(maxsize=4096)
    def read(text: str) -> Caveat:
        """Parse a text that ``str`` wrote; an unknown text becomes a caveat in words."""
        some = 0
        whole = 0
        shared = _SHARE.fullmatch(text)
        if shared:
            text = shared["text"]
            some = int(shared["some"])
            whole = int(shared["trials"])
        if number := _NUMBER.fullmatch(text):
            return Caveat(number["code"], some=int(number["some"]))
        code, colon, detail = text.partition(": ")
        if colon and code in _WITH_DETAIL:
            return Caveat(code, detail, some, whole)
        if text in CAVEATS or text in _WITH_DETAIL:
            return Caveat(text, "", some, whole)
        return Caveat(IN_WORDS, text, some, whole)

    def __str__(self) -> str:
        return self._counted(self._written)

    @property
    def _written(self) -> str:
        if self.code == IN_WORDS:
            return self.detail
        if self.code in _WITH_NUMBER:
            return f"{self.some} {self.code}"
        return f"{self.code}: {self.detail}" if self.detail else self.code

    def _counted(self, text: str) -> str:
        return f"{text} ({self.some} of {self.trials} trials)" if self.share < 1 else text

    @property
    def kind(self) -> tuple[str, str]:
        """The code and the detail; caveats of one kind differ only in their trials."""
        return (self.code, self.detail)

    @property
    def share(self) -> float:
        """The share of the trials that have the caveat, from 0 to 1."""
        return self.some / self.trials if self.trials else 1.0

    @property
    def for_most(self) -> bool:
        """Whether at least half of the trials have the caveat; it then applies to their value."""
        return self.share >= MOST_TRIALS

    @property
    def text(self) -> str:
        """The meaning of the caveat in words."""
        if self.some == 1 and self.code in _OF_ONE:
            return _OF_ONE[self.code]
        return self._counted(CAVEATS.get(self.code, self._written))

    @property
    def brief(self) -> str:
        """A few words for a sentence about the number; empty if sentences may omit the caveat."""
        if self.code == OTHER_LAYOUT:
            return self.detail
        if self.code in (NOT_VERIFIED, OTHER_BUILD, *_NOT_AS_ASKED) or self.code in _WITH_NUMBER:
            return str(self)
        words = _BRIEF.get(self.code, "")
        partly = words and self.share < 1
        return f"{words} in {self.some} of {self.trials} trials" if partly else words

    @property
    def next_step(self) -> str:
        """The reader's next step; empty if there is none."""
        return _NEXT.get(self.code, "")


def read_caveats(texts: Iterable[str] | None) -> tuple[Caveat, ...]:
    """Parse the caveats of a record or a row; equal caveats are returned once."""
    return tuple(Caveat.read(text) for text in dict.fromkeys(texts or ()))


def codes(caveats: Iterable[Caveat]) -> frozenset[str]:
    """Return the codes of caveats, whatever their share of trials."""
    return frozenset(caveat.code for caveat in caveats)


def widest(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """Return one caveat of each kind: the caveat with the largest share of trials."""
    kinds: dict[tuple[str, str], Caveat] = {}
    for caveat in caveats:
        largest = kinds.get(caveat.kind)
        if largest is None or (caveat.share, caveat.some) > (largest.share, largest.some):
            kinds[caveat.kind] = caveat
    return tuple(kinds.values())


def briefs(caveats: Iterable[Caveat]) -> dict[str, set[Caveat]]:
    """Return caveats by their brief words; caveats without brief words are left out."""
    alike: dict[tuple[str, str], set[Caveat]] = {}
    for caveat in dict.fromkeys(caveats):
        if caveat.brief:
            alike.setdefault(caveat.kind, set()).add(caveat)
    return {_most(group): group for group in alike.values()}


def _most(alike: set[Caveat]) -> str:
    (most,) = widest(alike)
    if len(alike) == 1:
        return most.brief
    if most.code in _WITH_NUMBER:
        return f"up to {most.brief}"
    return most.brief.replace(" in ", " in up to ", 1) if most.share < 1 else most.brief


def steps(caveats: Iterable[Caveat]) -> dict[Caveat, str]:
    """Return the next step of each caveat; "" if an earlier caveat has the same kind."""
    next_steps: dict[Caveat, str] = {}
    kinds: set[tuple[str, str]] = set()
    for caveat in dict.fromkeys(caveats):
        next_steps[caveat] = "" if caveat.kind in kinds else caveat.next_step
        kinds.add(caveat.kind)
    return next_steps


def notes(caveats: Iterable[Caveat]) -> dict[Caveat, str]:
    """Return the meaning and the next step of each caveat, for the notes under a table."""
    texts = {}
    for caveat, step in steps(caveats).items():
        texts[caveat] = f"{caveat.text}; {step}" if step else caveat.text
    return texts
