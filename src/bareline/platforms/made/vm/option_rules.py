"""Rules that several options of a guest must satisfy together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from bareline.vocabulary.source_place import place_of


class OptionRule:
    """A rule for several options, with the message of its violation.

    - `is_broken`: a value whose truth shows that the options violate the rule.
    - `made_at`: the place in the source code that made the message; it determines the code of the
      error.
    """

    def __init__(self, is_broken: object, message: str) -> None:
        self.is_broken = is_broken
        self.message = message
        self.made_at = place_of(sys._getframe(1))

    def error(self) -> ValueError:
        """Return the error for options that violate the rule."""
        error = ValueError(self.message)
        error.made_at = self.made_at  # type: ignore[attr-defined]
        return error


class Ruled(BaseModel):
    """Options with rules that involve several options at the same time."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        for rule in self._rules():
            if rule.is_broken:
                raise rule.error()
        return self

    def _rules(self) -> Iterator[OptionRule]:
        """Yield the rules, in the order in which they are checked."""
        yield from ()


class GuestPart(Ruled):
    """A part of a guest's options, which has a table in the platform file."""

    model_config = ConfigDict(extra="forbid", frozen=True)
