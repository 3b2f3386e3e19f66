"""Settings of a program: for each format, which settings belong to the identity of a case."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from bareline.formats.foreign import plain_key
from bareline.vocabulary.model import Scalar

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The known settings of a format; a setting that is not listed belongs to the case.

    - `results`: measured or derived values that the program prints among its settings.
    - `labels`: settings that do not change the measurement: paths, time stamps, hosts and names,
      frequency and form of the output.
    - `defaults`: default values; a setting with its default value is treated as not given.
    - `names`: names of settings in the case, if they differ from the program's names.
    """

    results: Set[str] = frozenset()
    labels: Set[str] = frozenset()
    defaults: Mapping[str, Sequence[Any]] = field(default_factory=lambda: _NOTHING)
    names: Mapping[str, str] = field(default_factory=lambda: _NOTHING)

    def case(self, given: Mapping[str, Any]) -> dict[str, Scalar]:
        """Return the settings that belong to the case, under their names in the case."""
        chosen: dict[str, Scalar] = {}
        for key, value in given.items():
            if key in self.results or key in self.labels:
                continue
            if value in self.defaults.get(key, ()):
                continue
            name = self.names.get(key) or plain_key(key)
            chosen[name] = _scalar(value)
        return chosen

    def ignored(self, given: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the settings that do not belong to the case, each with its reason."""
        words = []
        for key, value in given.items():
            if key in self.results:
                words.append(f"{key} = {value}: a result")
            elif key in self.labels:
                words.append(f"{key} = {value}: a label")
            elif value in self.defaults.get(key, ()):
                words.append(f"{key} = {value}: the default")
        return tuple(words)


def _scalar(value: Any) -> Scalar:
    """Return a value as a parameter's type; numbers that are not finite become texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str) else str(value)
