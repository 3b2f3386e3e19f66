"""The terms of a report, explained where they stand and in a list at the end."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

#: Term, as it stands in heads of columns and captions, and what it means.
TERMS: Mapping[str, str] = MappingProxyType(
    {
        "95 %": (
            "Interval that holds the true value in 95 of 100 such experiments; it needs six trials."
        ),
        "bandwidth": "Bytes per second; MB/s is 10^6 bytes per second.",
        "baseline": "The platform that the others are compared with.",
        "block": "A round in which every case ran once on every platform, in random order.",
        "cannot tell": (
            "The interval holds both a difference that matters and none: more trials would decide."
        ),
        "caveat": "What makes a number less than plain, said wherever the number stands.",
        "does not fit": (
            "The platform lacks the nodes or cores, or is of a kind on which the program never "
            "runs: the plan left it out."
        ),
        "efficiency": (
            "Speed-up over the growth in ranks, against the fewest ranks of the same platform."
        ),
        "equivalent": "The whole interval lies within the margin: no difference that matters.",
        "factor": "How many times worse than the baseline, as the publication tells it.",
        "failed": "The trial ran and gave no number; its reason is told.",
        "faster": "Better than the baseline beyond chance, whatever the metric's direction.",
        "inconclusive": (
            "The interval holds both a difference that matters and none: more trials would decide."
        ),
        "latency": "Time of one message, one way: half of a round trip.",
        "launch": "One start of a program with its MPI job; what counts as one trial.",
        "layout": "Nodes, ranks per node and threads per rank.",
        "margin": "Difference that does not matter, declared by the study.",
        "median": "The value in the middle of all trials.",
        "missing": "Measured on one side and not on the other.",
        "n": "Number of trials (launches) behind a value; iterations inside one count as one.",
        "performance lost": "1 - 1/factor: the share of the baseline's performance that is gone.",
        "platform": "Where trials run: a named machine, cluster, or set of virtual machines.",
        "probe": "One benchmark or application that was run.",
        "published ratio": (
            "What a publication says of its own platforms, as times worse; it leads to its source."
        ),
        "rank": "A process of an MPI job.",
        "ratio": (
            "Times worse than the baseline, whatever the metric's direction; below 1 is better."
        ),
        "retransmissions": "TCP segments that had to be sent again.",
        "simulated": "Time of a simulated machine, never of a clock; drawn hollow.",
        "slower": "Worse than the baseline beyond chance, whatever the metric's direction.",
        "steal time": "Processor time that a hypervisor gave to others while a rank wanted it.",
        "trial": "One launch of one probe with one set of parameters on one platform.",
        "verdict": "What the interval of the ratio allows to say, against the margin.",
    }
)
_WORDS = re.compile(
    "|".join(rf"(?<!\w){re.escape(term)}(?!\w)" for term in sorted(TERMS, key=len, reverse=True)),
    re.IGNORECASE,
)


def explained(text: str) -> str:
    """Explain the first known term of a short text, e.g. of a column's head; else nothing."""
    found = _WORDS.search(text)
    if found is None:
        return ""
    term = found[0].lower()
    return f"{term}: {TERMS.get(term) or TERMS[found[0]]}"
