"""What is planned to fail: `faults.json` of the cloud's folder, a list in the order of its use.

    [{"server": "*-n2-*", "fault": "abort", "times": 2, "text": "no disk"}]

`abort` ends in ERROR, `reschedule` is tried on other hosts (three in all), `slow` takes as many
`seconds` more, `unreachable` is active and never answers. Each spawn of an instance whose name the
pattern matches takes one of `times` away.
"""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

_NAME = "faults.json"


def take(folder: Path, name: str) -> dict[str, Any]:
    """Return the fault that is next for an instance, or nothing."""
    plan = folder / _NAME
    if not plan.exists():
        return {}
    listed = json.loads(plan.read_text())
    for fault in listed:
        if fault.get("times", 1) > 0 and fnmatchcase(name, fault.get("server", "*")):
            fault["times"] = fault.get("times", 1) - 1
            write(folder, listed)
            return dict(fault)
    return {}


def write(folder: Path, listed: list[dict[str, Any]]) -> None:
    """Plan faults, in place of those that were planned before."""
    new = folder / f"{_NAME}.new"
    new.write_text(json.dumps(listed))
    new.replace(folder / _NAME)
