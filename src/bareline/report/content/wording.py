"""Names and numbers as people read them: parameters, cells, intervals, ratios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bareline.predict.validation import Score
from bareline.report.content.cells import Cell, by_caveat
from bareline.report.figures.scales import Scale
from bareline.vocabulary.caveats import caveat_text
from bareline.vocabulary.model import Scalar, parse_point
from bareline.vocabulary.units import format_size, format_value, listing, plain, whole
from bareline.vocabulary.verdicts import Verdict

_ACRONYMS = {
    "cpu": "CPU", "rtt": "RTT", "mpi": "MPI", "io": "I/O", "iops": "IOPS", "hpl": "HPL",
    "dgemm": "DGEMM", "fft": "FFT", "mpifft": "MPIFFT", "ptrans": "PTRANS", "stream": "STREAM",
    "randomaccess": "RandomAccess", "mpirandomaccess": "MPIRandomAccess",
}  # fmt: skip
_AXES = {"size_bytes": "message size", "ranks": "ranks", "threads": "threads per rank"}

#: Units of parameters by the end of their names; sizes are shown in KiB, MiB ... instead.
_UNITS = {"_s": "s", "_hz": "Hz", "_percent": "%"}


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


def parameter_name(name: str) -> str:
    """Write a parameter for people, without the unit that its values carry."""
    if name in _AXES:
        return _AXES[name]
    for suffix in ("_bytes", *_UNITS):
        name = name.removesuffix(suffix)
    return name.replace("_", " ")


def axis_title(name: str) -> str:
    """Title a parameter's axis, e.g. ``Frequency (Hz)``; sizes have their units at the ticks."""
    unit = next((unit for suffix, unit in _UNITS.items() if name.endswith(suffix)), "")
    return Scale(1.0, unit).titled(sentence_case(parameter_name(name)))


def parameter_value(name: str, value: Scalar | None) -> str:
    """Write a parameter's value with its unit, e.g. ``64 KiB``."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if name.endswith("_bytes"):
        return format_size(value)
    for suffix in ("_s", "_hz"):
        if name.endswith(suffix):
            return format_value(value, _UNITS[suffix])
    return whole(value)


def coordinate(name: str, value: Scalar | None) -> str:
    """Write one parameter with its value in words, e.g. ``4 ranks`` or ``transport tcp``."""
    text = parameter_value(name, value)
    if name == "profile" and value is True:
        return "profiled"
    if name in ("ranks", "threads"):
        return f"{text} {name if value != 1 else name.removesuffix('s')}"
    if name == "size_bytes":
        return text
    return f"{parameter_name(name)} {text}"


def describe(cell: Cell, names: Iterable[str]) -> str:
    """Write the given parameters of a cell, e.g. ``4 ranks, transport tcp``."""
    known = cell.coordinates
    return ", ".join(coordinate(name, known[name]) for name in names if name in known)


def describe_case(params: str, ranks: int, threads: int) -> str:
    """Write the parameters and the ranks of a case, leaving out single ranks and threads."""
    parts = [coordinate(name, value) for name, value in parse_point(params).items()]
    if ranks > 1:
        parts.append(coordinate("ranks", ranks))
    if threads > 1:
        parts.append(coordinate("threads", threads))
    return ", ".join(parts)


def interval(scale: Scale, lo: float | None, hi: float | None) -> str:
    """Write an interval without its unit, e.g. ``11.2–12.1``; empty when there is none."""
    if lo is None or hi is None:
        return ""
    return f"{scale.show(lo)}–{scale.show(hi)}"


def ratio_text(ratio: float | None) -> str:
    """Write a ratio with three significant digits."""
    return "–" if ratio is None else plain(ratio)


def ratio_interval(lo: float | None, hi: float | None) -> str:
    """Write the interval of a ratio; empty when there is none, one end where it is open."""
    if lo is None or hi is None:
        return f"≥ {plain(lo)}" if lo is not None else f"≤ {plain(hi)}" if hi is not None else ""
    return f"{plain(lo)}–{plain(hi)}"


def verdict_word(verdict: str) -> str:
    """Write a verdict as a word of a table."""
    return verdict.replace("-", " ")


def ratio_phrase(cell: Cell) -> str:
    """Write a cell's ratio as a clause, e.g. ``11.6 times the baseline [11.2, 12.1]``."""
    if cell.ratio is None:
        return cell.verdict or "no ratio"
    text = f"{plain(cell.ratio)} times the baseline"
    if cell.ratio_lo is not None and cell.ratio_hi is not None:
        text += f" [{plain(cell.ratio_lo)}, {plain(cell.ratio_hi)}]"
    return text


def caveat_notes(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Write the caveats of drawn cells, each with its platforms, for a picture of its own."""
    drawn = [cell for cell in cells if cell.value is not None]
    return tuple(
        f"{caveat_text(code)} ({listing(list(dict.fromkeys(cell.platform for cell in own)))})"
        for code, own in by_caveat(drawn).items()
    )


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun, e.g. ``1 trial``, ``6 trials``."""
    return f"{whole(number)} {noun if number == 1 else plural or noun + 's'}"


def coordinates_text(coordinates: Mapping[str, Scalar]) -> str:
    """Write every parameter of a mapping in words."""
    return ", ".join(coordinate(name, value) for name, value in coordinates.items())


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
