"""Units of publications, and the range of sizes or ranks that a published figure covers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

#: Units in which the publications print, with their unit in the store and its factor.
UNITS: Mapping[str, tuple[str, Decimal]] = {
    "us": ("s", Decimal("1e-6")),
    "bytes": ("B", Decimal(1)),
    "MB/s": ("B/s", Decimal("1e6")),
    "GB/s": ("B/s", Decimal("1e9")),
    "Mb/s": ("bit/s", Decimal("1e6")),
    "Gb/s": ("bit/s", Decimal("1e9")),
    "Gflop/s": ("flop/s", Decimal("1e9")),
    "Tflop/s": ("flop/s", Decimal("1e12")),
    "files/s": ("op/s", Decimal(1)),
    "%": ("%", Decimal(1)),
    "x": ("1", Decimal(1)),
}


class Spread(BaseModel):
    """A range of sizes or ranks that a published figure covers, with exceptions.

    - `low`, `high`: the ends, which belong to the range.
    - `above`: a lower end that does not belong to the range.
    - `exceptions`: values in the range that have separate figures.
    - `label`: the words of the document if it prints no number ("larger messages").
    - `inferred`: a number that the document prints in another place, not with this figure.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    low: int | None = None
    high: int | None = None
    above: int | None = None
    exceptions: Annotated[list[int], Field(alias="except")] = []
    label: str | None = None
    inferred: int | None = None

    def holds(self, value: float) -> bool:
        """Whether a value is in the range.

        A range with only a label contains no value, and one with `inferred` contains that number.
        """
        if self.inferred is not None and value == self.inferred:
            return True
        if not self.has_ends:
            return False
        return (
            value not in self.exceptions
            and (self.low is None or value >= self.low)
            and (self.high is None or value <= self.high)
            and (self.above is None or value > self.above)
        )

    @property
    def has_ends(self) -> bool:
        """Whether the spread has a number at either end."""
        return not (self.low is None and self.high is None and self.above is None)

    def text(self, form: Callable[[int], str]) -> str:
        """Return the spread as text, with numbers formatted by `form`."""
        if self.label is not None:
            return self.label
        text = self._stretch_text(form)
        left_out = ", ".join(map(form, self.exceptions))
        if left_out:
            text += f" except {left_out}"
        return text

    def _stretch_text(self, form: Callable[[int], str]) -> str:
        """Return the ends as text, e.g. "up to 8" or "2 to 8", with numbers formatted by `form`."""
        high = "" if self.high is None else form(self.high)
        if self.above is not None:
            text = f"above {form(self.above)}"
        elif self.low is not None:
            text = form(self.low)
        else:
            return f"up to {high}" if high else ""
        if high:
            text += f" to {high}"
        return text

    def __str__(self) -> str:
        return self.text(str)


#: A condition under which a figure was measured.
Condition = bool | int | str | list[int] | Spread
