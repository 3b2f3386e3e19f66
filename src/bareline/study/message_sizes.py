"""A study at the message sizes of an application, instead of the sizes in its file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields

from bareline.study.measure import Measure
from bareline.study.study import Study
from bareline.vocabulary.units import format_size, listing

#: The parameter of a list of sizes, and the parameters that it takes the place of.
LISTED = "sizes_bytes"
_RANGE = ("min_bytes", "max_bytes", "between")


@dataclass(frozen=True, slots=True)
class SizedStudy:
    """A study whose sweeps over message sizes have new sizes.

    - `probes`: the probes of each ``[[measure]]`` with new sizes.
    - `out_of_range`: the probes of each ``[[measure]]`` whose own range contains no new size.
    - `exhibits`: the titles of figures and tables that need a size which is no longer measured.
    """

    study: Study
    probes: tuple[str, ...]
    out_of_range: tuple[str, ...]
    exhibits: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield lines on missing results that a reader might expect."""
        if not self.probes:
            yield f"the study '{self.study.name}' measures no function by message size"
        if self.out_of_range:
            names = listing(self.out_of_range)
            yield f"{names}: no size of the program is in the study's range, which is measured"
        for title in self.exhibits:
            yield f"the exhibit '{title}' needs a size that is not measured"


def with_message_sizes(study: Study, sizes: Sequence[int]) -> SizedStudy:
    """Return a study with these message sizes, ascending, in every sweep over sizes.

    A ``[[measure]]`` keeps its own `min_bytes` and `max_bytes`, which its memory or its time may
    need. If no new size is between these two limits, it keeps its present sizes.
    """
    measures: list[Measure] = []
    probes: list[str] = []
    out_of_range: list[str] = []
    for measure in study.measures:
        if not _lists_sizes(study, measure):
            measures.append(measure)
            continue
        fitting = _within(measure, sizes)
        if fitting:
            measures.append(_at_sizes(measure, fitting))
            probes.append(measure.probe)
        else:
            measures.append(measure)
            out_of_range.append(measure.probe)
    return SizedStudy(
        study.changed(measures=measures),
        tuple(dict.fromkeys(probes)),
        tuple(dict.fromkeys(out_of_range)),
        tuple(_without_size(study, probes, sizes)),
    )


def _lists_sizes(study: Study, measure: Measure) -> bool:
    """Whether a probe takes a list of sizes, and its ``[[measure]]`` does not vary the sizes."""
    names = {field.name for field in fields(study.find_probe(measure.probe).params)}
    varied = {*measure.sweep, *measure.per_rank}
    return LISTED in names and varied.isdisjoint((LISTED, *_RANGE))


def _within(measure: Measure, sizes: Sequence[int]) -> list[int]:
    least = measure.params.get("min_bytes", 0)
    most = measure.params.get("max_bytes", max(sizes, default=0))
    return [size for size in sizes if float(least) <= size <= float(most)]


def _at_sizes(measure: Measure, sizes: Sequence[int]) -> Measure:
    rest = {name: value for name, value in measure.params.items() if name not in _RANGE}
    words = ",".join(map(str, sizes))
    return measure.model_copy(update={"params": {**rest, LISTED: words}})


def _without_size(study: Study, probes: Collection[str], sizes: Collection[int]) -> Iterator[str]:
    for exhibit in study.exhibits:
        size = exhibit.where.get("size_bytes")
        if exhibit.probe in probes and isinstance(size, int) and size not in sizes:
            yield exhibit.title or f"{exhibit.kind} at {format_size(size)}"
