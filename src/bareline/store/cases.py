"""What every line of a run that speaks of a case has in common: its keys, and what it may name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from bareline.vocabulary.model import Case, parse_point
from bareline.vocabulary.pinning import Pinning

#: No count of a run is larger; tables hold 64 bits.
MOST = (1 << 31) - 1
#: A number from 0, e.g. of a trial in its plan, and a count of what there is at least one of.
Number = Annotated[int, Field(ge=0, le=MOST)]
Count = Annotated[int, Field(ge=1, le=MOST)]
#: Where a study asks for ranks on a node; empty, and not written, where it does not.
PinningText = Annotated[str, AfterValidator(lambda text: str(Pinning.parse(text)) if text else "")]


def case_keys(case: Case) -> dict[str, Any]:
    """Give the keys of a line that say which case it is about."""
    return {
        "probe": case.probe,
        "params": case.params,
        "ranks": case.ranks,
        "threads": case.threads,
        "nodes": case.nodes,
        "placement": case.placement.value,
        "profile": case.profile,
        **({"pinning": case.pinning} if case.pinning else {}),
    }


def check_declared(
    platform: str,
    probe: str,
    params: str,
    probes: Mapping[str, Any],
    platforms: Mapping[str, Any],
) -> None:
    """Hold what a line names against what the run's header declares.

    Raises ValueError: the run has no such platform or probe, or the parameters are damaged.
    """
    if platform not in platforms:
        raise ValueError(f"the run has no platform '{platform}'")
    if probe not in probes:
        raise ValueError(f"the run has no probe '{probe}'")
    parse_point(params)
