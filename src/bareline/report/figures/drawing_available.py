"""Check whether figures can be drawn on this machine, and the remedy if they cannot."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from bareline.vocabulary.errors import ReportError

_LIFT = "see `ulimit -v`, and run the command where `ulimit -v` is unlimited"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """The reason why nothing can be drawn on this machine, and the next step."""

    reason: str
    step: str

    def __str__(self) -> str:
        return f"{self.reason}; {self.step}"


def drawing_obstacle() -> Obstacle | None:
    """Return the reason why nothing can be drawn on this machine; None if drawing is possible.

    The drawing engine reserves address space that it does not use. It ends the whole process if it
    cannot get that space.
    """
    if find_spec("vl_convert") is None:
        step = "to get it: pip install 'bareline[figures]'"
        return Obstacle("vl-convert-python is not installed", step)
    # 64 GiB, and a little for its work.
    reason = _too_few(66 << 30, "drawing reserves 66 GiB of it")
    return Obstacle(reason, _LIFT) if reason else None


def refuse_undrawn() -> None:
    """Refuse to draw if drawing is not possible on this machine.

    Raises ReportError: a package is missing, or the address space is limited.
    """
    if obstacle := drawing_obstacle():
        raise ReportError(f"no figure can be drawn: {obstacle.reason}", hint=obstacle.step)


def refuse_too_little_room() -> None:
    """Refuse a report if the address space is too small for its tables.

    Without this check, the library that reads the tables would end the whole process.

    Raises ReportError: the address space is limited to little more than the process uses.
    """
    if reason := _too_few(1 << 30, "a report takes 1024 MiB more than the memory in use"):
        raise ReportError(reason, hint=_LIFT)


def _too_few(wanted_bytes: int, why: str) -> str:
    """Explain that `wanted_bytes` of address space are not available; "" if they are."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return ""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    if limit - pages * resource.getpagesize() > wanted_bytes:
        return ""
    return f"the address space is limited to {limit / (1 << 30):.3g} GiB, and {why}"
