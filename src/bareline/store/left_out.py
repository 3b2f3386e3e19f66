"""Lines of ``planned.jsonl`` and ``left_out.jsonl``: what a plan asks of a platform, and what not.

A case that a platform was never asked for is neither missing nor failed there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from bareline.store.cases import Count, PinningText, case_keys, check_declared
from bareline.vocabulary.model import Case, Placement
from bareline.vocabulary.platform import LeftOut

#: Names of the files within a run directory.
LEFT_OUT_FILE = "left_out.jsonl"
PLANNED_FILE = "planned.jsonl"


class _Planned(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)

    platform: str
    probe: str
    params: str
    ranks: Count
    threads: Count
    nodes: Count | None
    placement: Placement
    profile: bool
    pinning: PinningText = ""


class _LeftOut(_Planned):
    reason: str


def planned_line(platform: str, case: Case) -> str:
    """Give the line of a case that a platform is asked for, with its newline."""
    return json.dumps({"platform": platform, **case_keys(case)}, ensure_ascii=False) + "\n"


def read_planned(
    text: bytes, probes: Mapping[str, Any], platforms: Mapping[str, Any]
) -> tuple[str, Case]:
    """Read a platform and a case that it is asked for; parameters and errors as `read_left_out`."""
    line = _Planned.model_validate_json(text)
    check_declared(line.platform, line.probe, line.params, probes, platforms)
    return line.platform, Case(**line.model_dump(exclude={"platform"}))


def left_out_line(row: LeftOut) -> str:
    """Give the line, with its newline."""
    content = {"platform": row.platform, **case_keys(row.case), "reason": row.reason}
    return json.dumps(content, ensure_ascii=False) + "\n"


def read_left_out(text: bytes, probes: Mapping[str, Any], platforms: Mapping[str, Any]) -> LeftOut:
    """Read a line.

    - `text`: the line.
    - `probes`, `platforms`: what the run's header declares, by name.

    Raises ValueError: the line is damaged, or speaks of what the run does not hold.
    """
    line = _LeftOut.model_validate_json(text)
    check_declared(line.platform, line.probe, line.params, probes, platforms)
    fields = line.model_dump(exclude={"platform", "reason"})
    return LeftOut(platform=line.platform, case=Case(**fields), reason=line.reason)
