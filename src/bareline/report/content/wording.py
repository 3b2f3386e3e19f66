"""Names and numbers as people read them: parameters, cells, intervals, ratios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain, product
from string import ascii_lowercase

from bareline.analysis.cell import Cell, Estimate
from bareline.predict.validation import Score
from bareline.report.content.cells import by_caveat
from bareline.report.figures.scales import Scale
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.place import parameter_name, parameter_unit
from bareline.vocabulary.units import listing, plain, whole
from bareline.vocabulary.verdicts import Verdict

_ACRONYMS = {
    "cpu": "CPU", "rtt": "RTT", "mpi": "MPI", "io": "I/O", "iops": "IOPS", "hpl": "HPL",
    "dgemm": "DGEMM", "fft": "FFT", "mpifft": "MPIFFT", "ptrans": "PTRANS", "stream": "STREAM",
    "randomaccess": "RandomAccess", "mpirandomaccess": "MPIRandomAccess",
}  # fmt: skip
_AXES = {"size_bytes": "message size", "ranks": "ranks", "threads": "threads per rank"}

#: A mark before the words of a verdict, so that colour is never the only cue.
VERDICT_MARKS: Mapping[Verdict, str] = {
    Verdict.SLOWER: "▲",
    Verdict.FASTER: "▼",
    Verdict.MIXED: "▲▼",
    Verdict.EQUIVALENT: "=",
    Verdict.INCONCLUSIVE: "?",
    Verdict.FAILED: "✗",
    Verdict.NOT_COMPARABLE: "≁",
    Verdict.MISSING: "–",
    Verdict.DOES_NOT_FIT: "∅",
    Verdict.SKIPPED: "∅",
}


def metric_name(metric: str) -> str:
    """Write a metric for people, e.g. ``loop mean``."""
    words = metric.replace("_", " ").split(" ")
    return " ".join(_ACRONYMS.get(word, word) for word in words)


def axis_name(name: str) -> str:
    """Name the parameter of an axis or a column, e.g. ``message size``."""
    return _AXES.get(name) or parameter_name(name)


def axis_title(name: str) -> str:
    """Title a parameter's axis, e.g. ``Frequency (Hz)``; sizes have their units at the ticks."""
    return Scale(1.0, parameter_unit(name)).titled(sentence_case(axis_name(name)))


def interval(scale: Scale, value: Estimate | None) -> str:
    """Write an interval without its unit, e.g. ``11.2–12.1``; empty when there is none."""
    if value is None or value.lo is None or value.hi is None:
        return ""
    return f"{scale.show(value.lo)}–{scale.show(value.hi)}"


def ratio_text(ratio: float | None) -> str:
    """Write a ratio with three significant digits."""
    return "–" if ratio is None else plain(ratio)


def ratio_interval(ratio: Estimate | None) -> str:
    """Write the interval of a ratio; empty when there is none, one end where it is open."""
    lo, hi = (ratio.lo, ratio.hi) if ratio else (None, None)
    if lo is None or hi is None:
        return f"≥ {plain(lo)}" if lo is not None else f"≤ {plain(hi)}" if hi is not None else ""
    return f"{plain(lo)}–{plain(hi)}"


def verdict_word(verdict: Verdict | None) -> str:
    """Write a verdict as a word of a table; nothing where there is none."""
    return (verdict or "").replace("-", " ")


def ratio_phrase(cell: Cell) -> str:
    """Write a cell's ratio as a clause, e.g. ``11.6 times the baseline [11.2, 12.1]``."""
    ratio = cell.ratio
    if ratio is None:
        return cell.verdict or "no ratio"
    text = f"{plain(ratio.value)} times the baseline"
    if ratio.lo is not None and ratio.hi is not None:
        text += f" [{plain(ratio.lo)}, {plain(ratio.hi)}]"
    return text


def caveat_notes(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Write the caveats of drawn cells, each with its platforms, for a picture of its own."""
    drawn = [cell for cell in cells if cell.value is not None]
    return tuple(
        f"{caveat.text} ({listing(list(dict.fromkeys(cell.platform for cell in own)))})"
        for caveat, own in by_caveat(drawn).items()
    )


def lettered(caveats: Iterable[Caveat]) -> dict[Caveat, str]:
    """Give each caveat the letter of its footnote: a to z, then aa."""
    letters = chain(ascii_lowercase, map("".join, product(ascii_lowercase, repeat=2)))
    return dict(zip(dict.fromkeys(caveats), letters, strict=False))


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun, e.g. ``1 trial``, ``6 trials``."""
    return f"{whole(number)} {noun if number == 1 else plural or noun + 's'}"


def sentence_case(text: str) -> str:
    """Begin a title with a capital and without its article, e.g. ``DGEMM rate``."""
    text = text.removeprefix("the ")
    return text[:1].upper() + text[1:]


def percent(share: float) -> str:
    """Write a share, e.g. ``12.3 %``."""
    return f"{100 * share:.1f} %"


#: Letters for kinds that share a function's name.
_DIRECTIONS = {"MPI_Start": True, "MPI_Startall": True}


def call_name(call: str, kind: str) -> str:
    """Name a function, with its direction where it can have several."""
    return f"{call} ({kind})" if _DIRECTIONS.get(call) else call


def said_again(floor: Score) -> str:
    """Say how far a measurement lies from its repetition: what no prediction can undercut."""
    return (
        f"Measured again on the same platform, {floor.n} cases are off by {floor.median:.1%} in "
        f"the median, 90 % within {floor.p90:.1%}: no prediction from one launch can be expected "
        "to be nearer."
    )
