"""The verbs by task, as ``bareline --help`` lists them; each with its whole first sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typer.core import TyperGroup

#: Every verb belongs to one task; the order is that of ``--help``.
TASKS: Mapping[str, tuple[str, ...]] = {
    "Measure": (
        "doctor", "build", "platforms", "run", "ab", "submit", "continue", "status", "runs",
    ),
    "Look": ("show", "compare", "explain", "report", "trend", "nodes", "reference"),
    "Predict": ("profile", "predict", "forecast", "calibrate"),
    "Exchange": ("import", "export", "reparse", "published", "schema"),
    "Extend": ("new", "probes", "studies"),
}  # fmt: skip
#: Longer than any sentence: none is cut off, lines are wrapped.
_WHOLE = 1000


class VerbsByTask(TyperGroup):
    """A group whose ``--help`` has a section for each task."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the sections, and a verb of no task under a section of its own."""
        verbs = {
            name: verb
            for name in self.list_commands(ctx)
            if (verb := self.get_command(ctx, name)) is not None and not verb.hidden
        }
        sorted_out = {name for names in TASKS.values() for name in names}
        others = tuple(name for name in verbs if name not in sorted_out)
        for task, names in {**TASKS, "Other": others}.items():
            rows = [
                (name, verbs[name].get_short_help_str(limit=_WHOLE))
                for name in names
                if name in verbs
            ]
            if rows:
                with formatter.section(task):
                    formatter.write_dl(rows)
