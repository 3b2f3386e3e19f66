"""Caveats: what makes a number doubtful, by the code that stands in a record."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from bareline.vocabulary.verdicts import MIN_LAUNCHES

#: What each caveat code means, as it stands under a table. Probes may add codes of their own
#: that are sentences already.
CAVEATS: Mapping[str, str] = MappingProxyType(
    {
        "oversubscribed": "more ranks or threads than cores: they take turns",
        "emulated-cpu": "emulated CPU: compute and memory figures say nothing about hardware "
        "virtualization",
        "page-cache": "data may come from the page cache instead of the device",
        "host-cache": "the disk is virtual: its host may answer from memory",
        "memory-file-system": "the file system lies in memory: no device is measured",
        "not-direct": "direct I/O may have gone through the page cache",
        "not-synced": "the data was handed to the kernel, nothing waited for the device",
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
        "profiled": "measured under the profiler, which adds a little to every MPI call",
        "imported": "imported from an existing output: bareline did not run it",
        "unpaired": "not measured in common blocks: drift between the platforms is not removed",
        "cut": "sizes were cut because they exceeded their time budget",
        "pages-not-given": "working sets left out: the node did not give their pages or memory",
        "drifting": "the values drift over the run: the order of trials matters",
        "dependent": "neighbouring trials resemble each other: the interval is too narrow",
        "two-modes": "the values lie in two groups: the median is in one of them",
        "link-below-rate": "this machine cannot fill its limited links: TCP reached less than "
        "80 % of their rate",
        "shared-host": "all nodes of this platform share one machine's cores and memory",
        "generic-blas": "OpenBLAS ran kernels for an old processor (SSE) on one with AVX2 or "
        "AVX-512, as it does where it does not know the processor; OPENBLAS_CORETYPE chooses "
        "others",
    }
)


#: Begins the caveat of what was measured on another layout than the baseline's.
OTHER_LAYOUT = "other layout"

#: Begins the caveat of a result that was not held against its reference, with the reason.
NOT_VERIFIED = "not verified"

#: Ends the caveat that counts a case's failed trials.
FAILED_TRIALS = "trials failed"

#: What matters so much that a sentence must say it, in a few words.
_BRIEF: Mapping[str, str] = MappingProxyType(
    {
        "oversubscribed": "more ranks than cores",
        "emulated-cpu": "emulated processor",
        "page-cache": "perhaps from the page cache",
        "host-cache": "perhaps from the host's memory",
        "memory-file-system": "a file system in memory",
        "steal-time": "processor time stolen",
        "busy-machine": "busy machine",
        "simulated": "simulated time",
        "cut": "sizes cut",
        "dependent": "trials not independent",
        "two-modes": "two modes",
        "unpaired": "not in common blocks",
        "link-below-rate": "links below their rate",
        "generic-blas": "BLAS kernels of an old processor",
    }
)

_COUNTED = re.compile(r"(?P<code>.*) \((?P<some>\d+) of (?P<all>\d+) trials\)")
_LOST = re.compile(r"(?P<some>\d+) (?P<what>(?:trials failed|launches lost).*)")


def counted(code: str, some: int, every: int) -> str:
    """Give a caveat that holds for some trials only; all of them need no count."""
    return code if some >= every else f"{code} ({some} of {every} trials)"


def caveat_code(caveat: str) -> str:
    """Give a caveat without the number of trials that it holds for."""
    match = _COUNTED.fullmatch(caveat)
    return match["code"] if match else caveat


def caveat_share(caveat: str) -> float:
    """Give the share of trials that a caveat holds for."""
    match = _COUNTED.fullmatch(caveat)
    return int(match["some"]) / int(match["all"]) if match else 1.0


def caveat_text(caveat: str) -> str:
    """Say in words what a caveat means; unknown codes are already words."""
    match = _COUNTED.fullmatch(caveat)
    if match is None:
        return CAVEATS.get(caveat, caveat)
    code = match["code"]
    return f"{CAVEATS.get(code, code)} ({match['some']} of {match['all']} trials)"


def caveat_brief(caveat: str) -> str:
    """Say in a few words what a sentence must not leave out; nothing where it may."""
    match = _COUNTED.fullmatch(caveat)
    if match is not None:
        brief = _BRIEF.get(match["code"], "")
        return f"{brief} in {match['some']} of {match['all']} trials" if brief else ""
    if caveat.startswith(OTHER_LAYOUT):
        return caveat.removeprefix(f"{OTHER_LAYOUT}: ")
    if _LOST.match(caveat) or caveat.startswith(NOT_VERIFIED):
        return caveat
    return _BRIEF.get(caveat, "")


def briefs(caveats: Iterable[str]) -> dict[str, set[str]]:
    """Say caveats in a few words each, those that differ by their count alone once.

    Returns
    -------
    dict
        By what is said, the caveats that it stands for; those that a sentence may leave out are
        missing.
    """
    alike: dict[str, set[str]] = {}
    for caveat in dict.fromkeys(caveats):
        if caveat_brief(caveat):
            lost = _LOST.fullmatch(caveat)
            alike.setdefault(lost["what"] if lost else caveat_code(caveat), set()).add(caveat)
    return {_most(group): group for group in alike.values()}


def _most(alike: set[str]) -> str:
    """Say the widest of caveats that differ by their count alone."""
    if len(alike) == 1:
        return caveat_brief(*alike)
    lost = [match for caveat in alike if (match := _LOST.fullmatch(caveat))]
    if lost:
        most = max(lost, key=lambda match: int(match["some"]))
        return f"up to {most['some']} {most['what']}"
    return caveat_brief(max(alike, key=caveat_share)).replace(" in ", " in up to ", 1)
