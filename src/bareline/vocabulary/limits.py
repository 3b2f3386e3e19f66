"""Limits of a run on shared machines: core hours, and hours of the day."""

from __future__ import annotations

import re
from datetime import time
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from bareline.vocabulary.errors import UsageError

#: The text on the command line that removes the closed hours of a run.
NO_HOURS = "none"
_SPAN = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


def parse_hours(text: str) -> tuple[tuple[time, time], ...]:
    """Parse hours of the day, e.g. ``08:00-18:00,20:00-22:00``, or "none"; raises UsageError."""
    spans = []
    for part in text.split(",") if text not in ("", NO_HOURS) else ():
        match = _SPAN.fullmatch(part.strip())
        if match is None or match[0][:5] == match[0][6:]:
            raise UsageError(f"'{text}' is not a time range", hint="write e.g. 08:00-18:00")
        hours = [int(number) for number in match.groups()]
        spans.append((time(hours[0], hours[1]), time(hours[2], hours[3])))
    return tuple(spans)


def _checked(text: str) -> str:
    try:
        parse_hours(text)
    except UsageError as error:
        raise ValueError(str(error)) from error
    return text


class Limits(BaseModel):
    """Limits of a run, or of one of its platforms.

    - `max_core_hours`: the maximum of core hours over all sessions of the run; unlimited without
      it.
    - `not_between`: local hours of the day in which no trial begins, as `parse_hours` reads them.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    max_core_hours: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    not_between: Annotated[str, AfterValidator(_checked)] | None = None


class Terms(Limits):
    """Limits of a run on a platform, and the prices there.

    - `price_per_hour`: the price of one node.
    - `currency`: the currency of this price, as ISO 4217 names it.
    """

    price_per_hour: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] | None = None


#: The limits and terms of a user who gave none.
NO_LIMITS = Limits()
NO_TERMS = Terms()
