"""The published sizes at which a curve jumps or two curves meet, drawn on the axis of sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from bareline.published.catalogue import publications
from bareline.published.model import PublishedStudy, Result
from bareline.report.content.document import Document
from bareline.report.exhibits.base import Panel
from bareline.report.exhibits.shared_axis import VALUE_HEIGHT_PX, SharedAxis
from bareline.report.figures.marks import Layers
from bareline.report.figures.vega import Channel, Chart, Style, layer
from bareline.vocabulary.units import format_size

#: Metrics of publications whose value is a message size, and the event at that size.
EVENTS = {
    "algorithm_switch_message_size": "jumps",
    "native_virtual_parity_message_size": "meets the baseline",
}
_SIZE = "size_bytes"


@dataclass(frozen=True, slots=True)
class PrintedJump:
    """A published size, or range of sizes, at which the curve of a platform changes."""

    platform: str
    event: str
    low_bytes: int
    high_bytes: int

    @property
    def words(self) -> str:
        """Name the platform, the event and the sizes, e.g. ``b jumps between 512 B and 1 KiB``."""
        low = format_size(self.low_bytes)
        if self.low_bytes == self.high_bytes:
            return f"{self.platform} {self.event} at {low}"
        return f"{self.platform} {self.event} between {low} and {format_size(self.high_bytes)}"


def jumps_of(chosen: Panel) -> list[PrintedJump]:
    """Return the published jumps for an exhibit that repeats a curve over the message size."""
    if chosen.x != _SIZE:
        return []
    jumps: list[PrintedJump] = []
    for study in publications().values():
        for result in study.results:
            is_repeated = f"{study.id}:{result.part}" in chosen.spec.published
            if result.metric in EVENTS and is_repeated:
                jumps += _of_platforms(chosen.document, study, result)
    return jumps


def _of_platforms(
    document: Document, study: PublishedStudy, result: Result
) -> Iterator[PrintedJump]:
    low, high = result.ends
    if low is None or high is None:
        return
    for role in document.roles.values():
        if role.platform and f"{study.id}:{result.platform}" in role.published:
            yield PrintedJump(str(role.platform), EVENTS[result.metric], int(low), int(high))


def jumps_note(chosen: Panel) -> str:
    """Describe the shaded sizes; empty if there are none."""
    words = [jump.words for jump in jumps_of(chosen)]
    return f"Shaded sizes, as printed: {'; '.join(words)}." if words else ""


def printed_jumps(chosen: Panel, along: SharedAxis) -> Layers:
    """Shade the sizes of the published jumps in the colours of their platforms."""
    least, most = along.across.domain
    ranges = []
    lines = []
    for jump in jumps_of(chosen):
        row = {"colour": along.looks[jump.platform].colour, "tip": f"published: {jump.words}"}
        low = max(float(jump.low_bytes), least)
        high = min(float(jump.high_bytes), most)
        if low < high:
            ranges.append({**row, "x": low, "end": high})
        elif least <= low <= most:
            lines.append({**row, "x": low})

    def layers(across: Channel, _: Channel) -> Iterable[Chart]:
        whole: Style = {"tips": True, "y": 0, "opacity": 0.13}
        if ranges:
            yield layer("rect", ranges, "fill", x=across, x2="end", y2=VALUE_HEIGHT_PX, **whole)
        if lines:
            dashed: Style = {"strokeDash": [3, 2], "opacity": 0.6, "tips": True}
            yield layer("rule", lines, "stroke", x=across, **dashed)

    return layers
