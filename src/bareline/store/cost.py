"""What a run has cost so far, ``cost.json``: core seconds by platform, over all its sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter

from bareline.store.files import refuse_link, write_atomically
from bareline.store.header import first_problem
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.facts import PRICE_CURRENCY, PRICE_PER_CORE_HOUR
from bareline.vocabulary.files import read_bounded
from bareline.vocabulary.model import Scalar

#: Name of the file within a run directory.
COST_FILE = "cost.json"
_LARGEST_BYTES = 1 << 20
_COST: TypeAdapter[dict[str, float]] = TypeAdapter(
    dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]
)


def read_cost(run: Path) -> dict[str, float] | None:
    """Read the core seconds by platform; None of a run of before they were counted.

    Raises StoreError: the file is damaged.
    """
    try:
        return _COST.validate_json(read_bounded(run / COST_FILE, _LARGEST_BYTES, within=run))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise StoreError(
            f"damaged: {first_problem(error)}",
            where=str(run / COST_FILE),
            hint="take it from a copy of the run, or remove it: the results do not need it",
        ) from error


def money(facts: Mapping[str, Scalar], core_hours: float | None) -> tuple[float, str] | None:
    """Give what core hours of a platform have cost, and the currency; None without a price."""
    price = facts.get(PRICE_PER_CORE_HOUR)
    if core_hours is None or not isinstance(price, int | float):
        return None
    return core_hours * price, str(facts.get(PRICE_CURRENCY, ""))


def write_cost(run: Path, core_s: Mapping[str, float]) -> None:
    """Write them in place of what stood there.

    Raises OSError: they cannot be written.
    """
    refuse_link(run / COST_FILE)
    rounded = {name: round(value, 3) for name, value in core_s.items()}
    write_atomically(run / COST_FILE, json.dumps(rounded, sort_keys=True) + "\n")
