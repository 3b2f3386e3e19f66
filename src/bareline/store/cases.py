"""Lines about a case: their common keys, and the files ``planned.jsonl`` and ``left_out.jsonl``.

A case is a measurement that is the same on every platform, such as a probe with its parameters and
number of ranks. With these files, a case that was not planned for a platform does not count as
missing or failed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bareline.vocabulary.model import Case, Placement, parse_point
from bareline.vocabulary.pinning import Pinning
from bareline.vocabulary.platform import LeftOut

LEFT_OUT_FILE = "left_out.jsonl"
PLANNED_FILE = "planned.jsonl"

#: The largest count in a run; tables have 64 bits.
MOST = (1 << 31) - 1
#: A number from 0, e.g. of a trial in its plan, and a count from 1.
Number = Annotated[int, Field(ge=0, le=MOST)]
Count = Annotated[int, Field(ge=1, le=MOST)]


def _canonical_pinning(text: str) -> str:
    return str(Pinning.parse(text)) if text else ""


#: The pinning of ranks that a study requests; empty, and not written, if it requests none.
PinningText = Annotated[str, AfterValidator(_canonical_pinning)]
_KEYS = tuple(field.name for field in fields(Case))


class _Planned(BaseModel):
    model_config = ConfigDict(defer_build=True, strict=True, frozen=True)

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


def case_keys(case: Case) -> dict[str, Any]:
    """Return the keys of a line that identify its case."""
    keys = asdict(case)
    if not case.pinning:
        del keys["pinning"]
    return keys


def case_of(line: Any, probes: Mapping[str, Any], platforms: Mapping[str, Any]) -> Case:
    """Return the case of a line.

    Raises ValueError: the line is damaged, or its case is not declared in the run's header.
    """
    if line.platform not in platforms:
        raise ValueError(f"the run has no platform '{line.platform}'")
    if line.probe not in probes:
        raise ValueError(f"the run has no probe '{line.probe}'")
    parse_point(line.params)
    return Case(**{key: getattr(line, key) for key in _KEYS})


def planned_line(platform: str, case: Case) -> str:
    """Return the line of a case that is planned for a platform, with a newline."""
    return json.dumps({"platform": platform, **case_keys(case)}, ensure_ascii=False) + "\n"


def read_planned(
    text: bytes, probes: Mapping[str, Any], platforms: Mapping[str, Any]
) -> tuple[str, Case]:
    """Return the platform and the planned case in a line of ``planned.jsonl``.

    Raises ValueError: the line is damaged, or not declared in the run's header.
    """
    line = _Planned.model_validate_json(text)
    return line.platform, case_of(line, probes, platforms)


def left_out_line(row: LeftOut) -> str:
    """Return the line of a case that is left out, with a newline."""
    content = {"platform": row.platform, **case_keys(row.case), "reason": row.reason}
    return json.dumps(content, ensure_ascii=False) + "\n"


def read_left_out(text: bytes, probes: Mapping[str, Any], platforms: Mapping[str, Any]) -> LeftOut:
    """Return the left-out case in a line.

    Raises ValueError: the line is damaged, or its case or platform is not declared in the run's
    header.
    """
    line = _LeftOut.model_validate_json(text)
    case = case_of(line, probes, platforms)
    return LeftOut(platform=line.platform, case=case, reason=line.reason)
