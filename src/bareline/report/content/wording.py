"""Names and numbers for people, and the ids that link a sentence to its evidence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, SupportsFloat

from bareline.analysis.numbers.row import Row, with_interval
from bareline.analysis.words.amounts import ratio_words
from bareline.analysis.words.parts import capital
from bareline.predict.validation.scores import ModelScore
from bareline.report.blocks import Tone
from bareline.report.figures.scales import Scale
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.place import parameter_name, parameter_unit
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import count, listing
from bareline.vocabulary.verdicts import Verdict

_ACRONYMS = {
    "cpu": "CPU", "rtt": "RTT", "mpi": "MPI", "io": "I/O", "iops": "IOPS", "hpl": "HPL",
    "dgemm": "DGEMM", "fft": "FFT", "mpifft": "MPIFFT", "ptrans": "PTRANS", "stream": "STREAM",
    "randomaccess": "RandomAccess", "mpirandomaccess": "MPIRandomAccess",
}  # fmt: skip
_TONES: Mapping[Verdict | None, Tone] = {
    Verdict.SLOWER: "worse",
    Verdict.FASTER: "better",
    Verdict.FAILED: "muted",
    Verdict.MISSING: "muted",
    Verdict.DOES_NOT_FIT: "muted",
    Verdict.SKIPPED: "muted",
    Verdict.NOT_COMPARABLE: "muted",
}
_AXES = {"size_bytes": "message size", "ranks": "ranks", "threads": "threads per rank"}


def metric_name(metric: str) -> str:
    """Format a metric for people, e.g. ``loop mean``."""
    return " ".join(_ACRONYMS.get(word, word) for word in metric.replace("_", " ").split(" "))


def axis_name(name: str) -> str:
    """Name the parameter of an axis or a column, e.g. ``message size``."""
    return _AXES.get(name) or parameter_name(name)


def axis_title(name: str) -> str:
    """Return the title of a parameter's axis, e.g. ``Frequency (Hz)``.

    The title of an axis of sizes has no unit, because the labels of the ticks have it.
    """
    return Scale(1.0, parameter_unit(name)).titled(sentence_case(axis_name(name)))


def verdict_word(verdict: Verdict | None) -> str:
    """Format a verdict as a word of a table; "" if there is no verdict."""
    if verdict is None:
        return ""
    return verdict.words


def verdict_tone(verdict: Verdict | None) -> Tone:
    """Return the tone of a ratio: coloured only if the verdict is slower or faster."""
    return _TONES.get(verdict, "")


def compared_words(cell: Row) -> str:
    """Describe the comparison of a cell: its ratio with the interval, or why it has no ratio."""
    if cell.ratio is not None:
        return ratio_words(cell.ratio, cell.rate)
    return verdict_word(cell.verdict) or "no ratio"


def value_words(cell: Row, scale: Scale) -> str:
    """Format the value of a cell and its comparison with the baseline.

    Example: ``9.3 µs [9.1, 9.5], n = 10; 2.1 times slower``.
    """
    if cell.value is None:
        return verdict_word(cell.verdict) or "missing"
    text = f"{with_interval(cell.value, scale.unit, scale.show)}, n = {cell.n}"
    return f"{text}; {compared_words(cell)}" if cell.ratio is not None else text


def summed_up(texts: Mapping[str, Iterable[str]], most: int = 6) -> str:
    """Describe the contents of at most `most` groups.

    Example: ``2 ranks: a 3 and b 4; 4 ranks: a 5. And 2 more.``
    """
    groups: list[str] = []
    for label, contents in texts.items():
        words = listing([*contents])
        if label:
            words = f"{label}: {words}"
        groups.append(words)
    rest = f" And {len(groups) - most} more." if len(groups) > most else ""
    return f"{'; '.join(groups[:most])}.{rest}"


def caveat_notes(cells: Iterable[Row]) -> tuple[str, ...]:
    """Return the caveats of drawn cells, each with its platforms, for a separate image file."""
    platforms: dict[Caveat, dict[str, None]] = {}
    for cell in cells:
        if cell.value is None:
            continue
        for caveat in cell.caveats:
            platforms.setdefault(caveat, {})[cell.platform] = None
    notes: list[str] = []
    for caveat, names in platforms.items():
        notes.append(f"{caveat.text} ({listing([*names])})")
    return tuple(notes)


def sentence_case(text: str) -> str:
    """Return a title without its article and with a capital at its beginning.

    Example: ``DGEMM rate``.
    """
    return capital(text.removeprefix("the "))


def call_name(call: str, kind: str) -> str:
    """Name an MPI function and, for ``MPI_Start`` and ``MPI_Startall``, the kind of request."""
    return f"{call} ({kind})" if call in ("MPI_Start", "MPI_Startall") else call


def repeatability_sentence(floor: ModelScore) -> str:
    """Describe the difference between a measurement and its repetition.

    A prediction cannot be expected to have a smaller error than this difference.
    """
    return (
        f"Measured again on the same platform, {floor.n} cases are off by {floor.median:.1%} in "
        f"the median, 90 % within {floor.p90:.1%}: no prediction from one launch can be expected "
        "to be nearer."
    )


def distinct_parts(titles: Sequence[str]) -> list[str]:
    """Shorten titles: leave out the words with which all titles begin.

    If one title is the beginning of all titles, none is shortened: "Linpack rate" next to "Linpack
    rate over ranks" would be empty.
    """
    titles_words = [title.split() for title in titles]
    shared = _shared_beginning(titles_words)
    shortest = min((len(words) for words in titles_words), default=0)
    if len(titles) < 2 or shared == shortest:
        return list(titles)
    return [" ".join(words[shared:]) for words in titles_words]


def _shared_beginning(titles: Sequence[Sequence[str]]) -> int:
    """Return the number of words with which all titles begin."""
    same = takewhile(lambda words: len(set(words)) == 1, zip(*titles, strict=False))
    return len(list(same))


def outer_bound(
    choose: Callable[[Iterable[Any]], float], ends: Iterable[SupportsFloat | None]
) -> float | None:
    """Return the least or the greatest of `ends`; None if one of the ends is unknown.

    - `choose`: the function `min` or `max`.
    - `ends`: the lower ends, or the upper ends, of several intervals.
    """
    all_ends = list(ends)
    return None if None in all_ends else float(choose(all_ends))


def case_words(row: Mapping[str, Any]) -> str:
    """Name the case of a row: ``mpi.pingpong, 2 ranks, max_bytes=4096``."""
    words = f"{row['probe']}, {count(row['ranks'], 'rank')}"
    return f"{words}, {sanitized_name(row['params'])}" if row["params"] else words


def slug(*parts: object) -> str:
    """Make an id for the page out of names, e.g. ``mpi-allreduce``."""
    text = "-".join(str(part) for part in parts if part != "")
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def layer_anchor(layer: str) -> str:
    """Return the id of a layer's section of the page."""
    return slug("layer", layer)


def probe_anchor(probe: str) -> str:
    """Return the id of a probe's part in the section of its layer."""
    return slug("probe", probe)
