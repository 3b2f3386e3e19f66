"""Printed numbers with the deviation that their rounding explains."""

from __future__ import annotations

from dataclasses import dataclass

from bareline.formats.table import number, rounding


@dataclass(frozen=True, slots=True)
class Rounded:
    """A printed number, and the largest deviation that its rounding explains."""

    value: float
    off: float = 0.0

    @classmethod
    def of(cls, text: str, where: str) -> Rounded:
        """Read a number that is not negative.

        Raises ParseError: the text is not such a number.
        """
        return cls(number(text, where), rounding(text))

    @property
    def low(self) -> float:
        """The smallest number that rounding may have changed into the printed number."""
        return self.value - self.off

    @property
    def high(self) -> float:
        """The largest number that rounding may have changed into the printed number."""
        return self.value + self.off

    @property
    def off_share(self) -> float:
        """The largest deviation as a share of the number."""
        return self.off / self.value
