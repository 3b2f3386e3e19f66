"""The grammar that charts are written in: altair, or a blank where it is not installed.

Charts belong to the extra ``figures``. Without it an exhibit is put together as always, its titles
and tables with it, and what would be drawn stays blank: `why_undrawn` says so before anybody draws.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any


class Blank:
    """Stands for every name and every chart of the grammar; what is made of it is blank, too."""

    def __getattr__(self, name: str) -> Blank:
        """Give any name of the grammar."""
        if name.startswith("__"):  # protocols of Python are not for a blank to fulfil
            raise AttributeError(name)
        return self

    def __call__(self, *_given: Any, **_named: Any) -> Blank:
        """Make any chart."""
        return self

    def __getitem__(self, _key: Any) -> Blank:
        return self

    def __add__(self, _other: Any) -> Blank:
        return self

    def __or__(self, _other: Any) -> Blank:
        return self


if TYPE_CHECKING:
    import altair as alt
else:
    try:
        import altair as alt
    except ModuleNotFoundError:
        alt = Blank()

__all__ = ["Blank", "alt"]
