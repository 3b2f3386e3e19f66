"""A study's ``[variant.NAME]``: changes of a platform, to be compared with its other variants."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Variant(BaseModel):
    """A ``[variant.NAME]``: keys of a platform file that replace keys of the run's platform.

    The run's only platform is measured once for each variant, under the variant's name; the first
    variant is the baseline. Every key of a platform's table is possible: `build`, `command`, `mpi`,
    `environment`.

    - `title`: a name of the variant for tables and figures.
    """

    model_config = ConfigDict(defer_build=True, extra="allow", frozen=True)

    title: str = Field(default="", max_length=10_000)

    @property
    def settings(self) -> dict[str, Any]:
        """The changed keys and their values."""
        return dict(self.model_extra or {})
