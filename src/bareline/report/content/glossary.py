"""The terms of a report, each with its explanation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from bareline.report.content.wording import slug

_OPEN = (
    "Neither a difference nor equality is shown: the interval allows both, or chance explains the "
    "difference among so many comparisons. More trials would decide."
)
_EQUAL = "The whole interval is within the margin: no difference that matters."
#: Term, as it is in heads of columns, captions and sentences, and its meaning.
TERMS: Mapping[str, str] = MappingProxyType(
    {
        "95 %": (
            "Interval with the true value in 95 of 100 such experiments; it needs six trials."
        ),
        "bandwidth": "Bytes per second; MB/s is 10^6 bytes per second.",
        "baseline": "The platform that every other platform is compared with.",
        "block": (
            "A round in which every case ran once on every platform, in random order; of a file, "
            "the data that one call reads or writes."
        ),
        "busy machine": "Other programs used the processors while the trial ran.",
        "cannot tell": _OPEN,
        "caveat": "A reservation about a number, shown wherever the number is.",
        "does not fit": (
            "The platform lacks the nodes or cores, or is of a kind on which the program never "
            "runs: the plan left it out."
        ),
        "drift": "A slow change of the machine itself over the run, such as its temperature.",
        "efficiency": (
            "Speed-up over the growth in ranks, against the fewest ranks of the same platform."
        ),
        "emulated": (
            "Imitated by a program: the speed of such a processor or adapter differs from that of "
            "hardware by an unknown factor."
        ),
        "equal within": _EQUAL,
        "factor": "How many times worse than the baseline, as the publication gives it.",
        "failed": "The trial ran and gave no number; its reason is given.",
        "false discovery rate": (
            "Expected share of wrong rows among the rows that are called different."
        ),
        "faster": "Better than the baseline beyond chance, whatever the metric's direction.",
        "Holm": (
            "Holm's correction asks more of each of several comparisons, so that all of them are "
            "right together."
        ),
        "interval": (
            "The range that may contain the true value; unless noted, it does so in 95 of 100 such "
            "experiments."
        ),
        "ladder": "Platforms as steps: each is also compared with the platform before it.",
        "latency": (
            "Time of one message, one way: half of a round trip. Of memory, time of one load that "
            "waits for the load before it."
        ),
        "launch": "One start of a program with its MPI job; it counts as one trial.",
        "layout": "Nodes, ranks per node and threads per rank.",
        "margin": "Difference that does not matter, declared by the study.",
        "median": "The value in the middle of all trials.",
        "message size": "Bytes of data in one message, or from each rank in a collective.",
        "missing": "Measured on one side and not on the other.",
        "n": "Number of trials (launches) behind a value; iterations inside one count as one.",
        "page cache": "Memory in which the system keeps the contents of files.",
        "performance lost": "1 - 1/factor: the share of the baseline's performance that is gone.",
        "permutation test": (
            "In each block (or pair of launches of two runs) the names of the platforms are "
            "swapped, in every way: a difference by chance is as large with swapped names."
        ),
        "platform": "Where trials run: a named machine, cluster, or set of virtual machines.",
        "probe": "One benchmark or application that was run.",
        "published ratio": (
            "The publication's ratio of its own platforms, as times worse; it leads to its source."
        ),
        "rank": "A process of an MPI job.",
        "ratio": (
            "Times worse than the baseline, whatever the metric's direction; below 1 is better."
        ),
        "retransmissions": "TCP segments that had to be sent again.",
        "retrans": "Retransmissions, as nuttcp prints them.",
        "role": "A column of a published study, played by one of your platforms.",
        "simulated": "Time of a simulated machine, never of a clock; drawn hollow.",
        "shared memory": "Memory that ranks on one node exchange messages through.",
        "slower": "Worse than the baseline beyond chance, whatever the metric's direction.",
        "steal time": (
            "Processor time that a hypervisor gave to other guests while a rank wanted to run."
        ),
        "trial": "One launch of one probe with one set of parameters on one platform.",
        "undecided": _OPEN,
        "verdict": "The conclusion that the interval of the ratio allows, against the margin.",
    }
)
#: Words that mean something else in running text than at the head of a column: "3.0 times slower"
#: in a range that reaches both ways is not certain, and "factor" is any number.
_HEADS_ONLY = frozenset({"factor", "faster", "slower"})
_BY_WORD = {term.lower(): term for term in TERMS}


def _pattern(terms: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that matches terms as separate words, also in plural.

    Parts of names like `mpi.latency` are not matched.
    """

    def word(term: str) -> str:
        if len(term) == 1:
            return f"(?-i:{term})"
        plural = "(?:e?s)?" if term[-1].isalpha() else ""
        return re.escape(term) + plural

    words = "|".join(word(term) for term in sorted(terms, key=len, reverse=True))
    return re.compile(rf"(?<![\w.\-/&#])(?:{words})(?![\w\-/]|\.\w)", re.IGNORECASE)


_IN_HEADS = _pattern(TERMS)
_IN_TEXT = _pattern(term for term in TERMS if term not in _HEADS_ONLY)


def explained(text: str) -> str:
    """Return the explanation of the first known term in a short text, or "" if there is none."""
    term = term_in(text)
    return f"{term}: {TERMS[term]}" if term else ""


def term_in(text: str) -> str:
    """Return the first known term in a short text, e.g. an axis title, or "" if there is none."""
    match = _IN_HEADS.search(text)
    return _term(match[0]) if match else ""


def terms_of(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield every known term in running text as its begin, its end and the term."""
    for match in _IN_TEXT.finditer(text):
        yield match.start(), match.end(), _term(match[0])


def term_anchor(term: str) -> str:
    """Return the id of a term's entry in the glossary of the page."""
    return slug("term", term)


def _term(word: str) -> str:
    lower = word.lower()
    return next(
        _BY_WORD[stem] for end in range(3) if (stem := lower[: len(lower) - end]) in _BY_WORD
    )
