"""Caveats: what makes a number doubtful.

In records and tables a caveat is a short text, which `Caveat.read` reads and ``str`` writes;
nothing else takes it apart. Its code says what it means and what can be done about it, its share
for how many of the trials it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: What each caveat code means, as it stands under a table. Probes may add codes of their own
#: that are sentences already.
CAVEATS: Mapping[str, str] = MappingProxyType(
    {
        "oversubscribed": "more ranks or threads than cores: they take turns",
        "emulated-cpu": "emulated CPU: compute and memory figures say nothing about hardware "
        "virtualization",
        "sandbox-kernel": "every system call goes to a sandbox's own kernel, not to the machine's",
        "page-cache": "data may come from the page cache instead of the device",
        "in-cache": "the arrays are no larger than the last-level cache: the rate may be the "
        "cache's, not memory's",
        "host-cache": "the disk is virtual: its host may answer from memory",
        "memory-file-system": "the file system lies in memory: no device is measured",
        "loop-file": "the file system lies in a file: the page cache below it may answer for the "
        "device",
        "server-cache": "the file system is another program's or machine's, which may answer from "
        "its memory",
        "not-direct": "direct I/O may have gone through the page cache",
        "not-synced": "the data was handed to the kernel, nothing waited for the device",
        "own-data": "a network file system: nodes read what they had written themselves, less than "
        "they have memory, and its client may have kept it",
        "node-local": "each node worked in a file system of its own: the rate is the sum of theirs",
        "too-short": "the phase was over within 10 s: no rate that lasts (IO500 asks for 300 s)",
        "short-file": "the time budget ended the file before its full size",
        "n-too-small": f"fewer than {MIN_LAUNCHES} trials: no interval and no verdict",
        "precision-not-reached": "the interval is wider than the study asked for",
        "steal-time": "the hypervisor took processor time away during the trial",
        "busy-machine": "other programs used this machine's processors during the trial",
        "edited": "run.toml was changed after the run was made: it and the results may not belong "
        "together",
        "simulated": "simulated time, not wall time",
        "exact-in-model": "simulated: exact within the model, so one trial is enough; an interval "
        "is the error that calibration found, never a spread",
        "recorded-busy": "what the program computes was recorded once, while other programs used "
        "this machine's processors",
        "profiled": "measured under the profiler, which adds a little to every MPI call",
        "imported": "imported from an existing output: bareline did not run it",
        "unpaired": "not measured in common blocks: drift between the platforms is not removed",
        "output-cut": "part of a long output, or of a file, was not kept and not read",
        "cut": "sizes were cut because they exceeded their time budget",
        "pages-not-given": "working sets left out: the node did not give their pages or memory",
        "drifting": "the values drift over the run: the order of trials matters",
        "dependent": "neighbouring trials resemble each other: the interval is too narrow",
        "few-boots": f"fewer than {MIN_LAUNCHES} boots (hosts or guests made anew, jobs of a batch "
        "system): what is said holds for these boots, another one may differ",
        "two-modes": "the values lie in two groups: the median is in one of them",
        "within-control": "no larger than what the baseline differs from itself by: it may be the "
        "machine's, not the platform's",
        "lopsided-noise": "launches spread unequally and to one side: so small a difference may be "
        "one of the spread, not of the middle",
        "two-machines": "measured on two machines, since the run was continued on another one: "
        "launches of each are compared with their like only",
        "link-below-rate": "this machine cannot fill its limited links: TCP reached less than "
        "80 % of their rate",
        "shared-host": "all nodes of this platform share one machine's cores and memory",
        "cores-with-neighbours": "busy neighbours run on the same cores: they take turns",
        "generic-blas": "OpenBLAS ran kernels for an old processor (SSE) on one with AVX2 or "
        "AVX-512, as it does where it does not know the processor; OPENBLAS_CORETYPE chooses "
        "others",
    }
)


#: Codes of caveats that carry a detail or a number, which no record could hold as a bare code.
OTHER_LAYOUT = "other layout"  # than the baseline's; the detail says both
NOT_VERIFIED = "not verified"  # held against no reference; the detail is the reason
FAILED_TRIALS = "trials failed"  # so many of the case
LOST_LAUNCHES = "launches lost to a time limit count as slower than all"
#: What is in words already: a probe's own caveat, or why something was left out.
IN_WORDS = "in words"

#: What was asked for and what was seen instead; the detail says both.
OTHER_PLACEMENT = "ranks placed otherwise"
OTHER_TRANSPORT = "MPI talks otherwise"
OTHER_MPI = "another MPI library"
_NOT_AS_ASKED = (OTHER_PLACEMENT, OTHER_TRANSPORT, OTHER_MPI)

_WITH_DETAIL = (OTHER_LAYOUT, NOT_VERIFIED, *_NOT_AS_ASKED)
_WITH_NUMBER = (FAILED_TRIALS, LOST_LAUNCHES)
_OF_ONE: Mapping[str, str] = MappingProxyType(
    {
        FAILED_TRIALS: "1 trial failed",
        LOST_LAUNCHES: "1 launch lost to a time limit counts as slower than all",
    }
)

#: From this share of the trials on a caveat speaks for the figure: what voids a verdict does so.
MOST_TRIALS = 0.5

#: What matters so much that a sentence must say it, in a few words.
_BRIEF: Mapping[str, str] = MappingProxyType(
    {
        "oversubscribed": "more ranks than cores",
        "emulated-cpu": "emulated processor",
        "page-cache": "perhaps from the page cache",
        "in-cache": "arrays within the cache",
        "host-cache": "perhaps from the host's memory",
        "memory-file-system": "a file system in memory",
        "loop-file": "a file system in a file",
        "server-cache": "perhaps from the file server's memory",
        "own-data": "read where it was written",
        "node-local": "each node's own file system",
        "too-short": "too short to last",
        "steal-time": "processor time stolen",
        "busy-machine": "busy machine",
        "simulated": "simulated time",
        "recorded-busy": "computation recorded on a busy machine",
        "cut": "sizes cut",
        "dependent": "trials not independent",
        "few-boots": "few boots",
        "two-modes": "two modes",
        "unpaired": "not in common blocks",
        "within-control": "as small as the baseline's differences from itself",
        "lopsided-noise": "no larger than launches spread, which is to one side",
        "two-machines": "measured on two machines",
        "link-below-rate": "links below their rate",
        "cores-with-neighbours": "cores shared with busy neighbours",
        "generic-blas": "BLAS kernels of an old processor",
    }
)

#: What a reader can do about a caveat.
_NEXT: Mapping[str, str] = MappingProxyType(
    {
        "oversubscribed": "ask for no more ranks than cores, or choose a platform with more",
        "emulated-cpu": "run where `bareline doctor` finds hardware virtualization",
        "page-cache": "write more than the memory holds, or use direct I/O",
        "in-cache": "leave the size to the probe, or give arrays of four times the cache",
        "memory-file-system": "name a folder on a device",
        "loop-file": "write more than the memory holds, or set `direct` of `filesystem`",
        "server-cache": "write more than the server's memory holds",
        "own-data": 'run on two nodes or more, with `readers = "other"`, or write more',
        "node-local": "name a folder that all nodes share as `io_folder`",
        "too-short": "give a `duration_s` or more `items`, segments or ranks",
        "n-too-small": "run the study with `--launches 6` or more",
        "precision-not-reached": "measure more launches, or on a quieter machine",
        "steal-time": "measure while the host's other guests are idle",
        "busy-machine": "measure again on a quiet machine",
        "recorded-busy": "remove the recordings (`compute` in the cache folder) and run again on a "
        "quiet machine",
        "unpaired": "measure both platforms in one run",
        "lopsided-noise": "look at the launches: what delays some of them is the difference",
        "within-control": "a quieter machine, or platforms that boot more often (blocks_per_boot)",
        "few-boots": f"at least {MIN_LAUNCHES} launches, with guests made anew for every block "
        "(`blocks_per_boot = 1`)",
        "output-cut": "let the program print less, or write its log to a file that nobody reads",
        "cut": "raise the probe's time budget",
        "two-machines": "measure again into a new folder, on one machine",
        "ranks placed otherwise": "see what else binds ranks there: a wrapper of the launcher, "
        "variables of the library, the batch system",
        "MPI talks otherwise": "see among the facts what carries messages, and which transports "
        "the library has",
        "another MPI library": "load the library that the programs were built with, or build for "
        "this one (`bareline build --on`)",
        "cores-with-neighbours": "to see what else neighbours cost, give them cores of their own "
        "(`neighbours.cores`)",
        "generic-blas": "set OPENBLAS_CORETYPE in the platform's environment",
    }
)

_SHARE = re.compile(r"(?P<text>.*) \((?P<some>\d+) of (?P<every>\d+) trials\)", re.DOTALL)
_NUMBER = re.compile(rf"(?P<some>\d+) (?P<code>{'|'.join(map(re.escape, _WITH_NUMBER))})")


@dataclass(frozen=True, slots=True)
class Caveat:
    """Something that makes a number doubtful.

    - `code`: a code of `CAVEATS`, one of the codes with a detail or a number, or `IN_WORDS`.
    - `detail`: what this one alone knows: both layouts, the reason, the words.
    - `some`, `every`: for how many of how many trials it holds; 0 of 0 for all of them. What is
      only counted (trials that failed) has no `every`.
    """

    code: str
    detail: str = ""
    some: int = 0
    every: int = 0

    @staticmethod
    def read(text: str) -> Caveat:
        """Read what ``str`` wrote; what is no caveat that bareline knows is in words already."""
        return _read(text)

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
        return f"{text} ({self.some} of {self.every} trials)" if self.share < 1 else text

    @property
    def kind(self) -> tuple[str, str]:
        """What makes two caveats the same but for the trials that they hold for."""
        return (self.code, self.detail)

    @property
    def share(self) -> float:
        """The share of the trials that it holds for."""
        return self.some / self.every if self.every else 1.0

    @property
    def for_most(self) -> bool:
        """Whether it holds for so many trials that it speaks for the figure."""
        return self.share >= MOST_TRIALS

    @property
    def text(self) -> str:
        """What it means, in words."""
        if self.some == 1 and self.code in _OF_ONE:
            return _OF_ONE[self.code]
        return self._counted(CAVEATS.get(self.code, self._written))

    @property
    def brief(self) -> str:
        """A few words, for what a sentence must not leave out; nothing where it may."""
        if self.code == OTHER_LAYOUT:
            return self.detail
        if self.code in (NOT_VERIFIED, *_NOT_AS_ASKED) or self.code in _WITH_NUMBER:
            return str(self)
        words = _BRIEF.get(self.code, "")
        if words and self.share < 1:
            return f"{words} in {self.some} of {self.every} trials"
        return words

    @property
    def next_step(self) -> str:
        """What a reader can do about it; empty where nothing is known."""
        return _NEXT.get(self.code, "")


@lru_cache(maxsize=4096)
def _read(text: str) -> Caveat:
    some = every = 0
    if shared := _SHARE.fullmatch(text):
        text, some, every = shared["text"], int(shared["some"]), int(shared["every"])
    if number := _NUMBER.fullmatch(text):
        return Caveat(number["code"], some=int(number["some"]))
    code, colon, detail = text.partition(": ")
    if colon and code in _WITH_DETAIL:
        return Caveat(code, detail, some, every)
    if text in CAVEATS or text in _WITH_DETAIL:
        return Caveat(text, "", some, every)
    return Caveat(IN_WORDS, text, some, every)


def read_caveats(texts: Iterable[str] | None) -> tuple[Caveat, ...]:
    """Read the caveats of a record or a row, each once."""
    return tuple(Caveat.read(text) for text in dict.fromkeys(texts or ()))


def codes(caveats: Iterable[Caveat]) -> frozenset[str]:
    """Give the codes of caveats, whatever their share."""
    return frozenset(caveat.code for caveat in caveats)


def widest(caveats: Iterable[Caveat]) -> tuple[Caveat, ...]:
    """Of caveats that differ only by their trials keep the one that holds for most."""
    kinds: dict[tuple[str, str], Caveat] = {}
    for caveat in caveats:
        known = kinds.get(caveat.kind)
        if known is None or (caveat.share, caveat.some) > (known.share, known.some):
            kinds[caveat.kind] = caveat
    return tuple(kinds.values())


def briefs(caveats: Iterable[Caveat]) -> dict[str, set[Caveat]]:
    """Say caveats in a few words each, those that differ by their count alone once.

    Gives by what is said, the caveats that it stands for; those that a sentence may leave out are
    missing.
    """
    alike: dict[tuple[str, str], set[Caveat]] = {}
    for caveat in dict.fromkeys(caveats):
        if caveat.brief:
            alike.setdefault(caveat.kind, set()).add(caveat)
    return {_most(group): group for group in alike.values()}


def _most(alike: set[Caveat]) -> str:
    """Say the widest of caveats that differ by their count alone."""
    (most,) = widest(alike)
    if len(alike) == 1:
        return most.brief
    if most.code in _WITH_NUMBER:
        return f"up to {most.brief}"
    return most.brief.replace(" in ", " in up to ", 1) if most.share < 1 else most.brief


def steps(caveats: Iterable[Caveat]) -> dict[Caveat, str]:
    """Say what can be done about caveats, once of those that differ by their trials alone."""
    told: dict[Caveat, str] = {}
    kinds: set[tuple[str, str]] = set()
    for caveat in dict.fromkeys(caveats):
        told[caveat] = "" if caveat.kind in kinds else caveat.next_step
        kinds.add(caveat.kind)
    return told


def notes(caveats: Iterable[Caveat]) -> dict[Caveat, str]:
    """Say what caveats mean and what can be done about them, as it stands under a table."""
    told = steps(caveats)
    return {one: f"{one.text}; {step}" if step else one.text for one, step in told.items()}
