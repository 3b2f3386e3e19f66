"""The verbs by task, in the order of ``bareline --help``.

The module of a verb is imported when the verb is used, because the import of all modules takes
longer than many verbs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup
from typing_extensions import override

#: The verbs of each task, and the module of `bareline.cli` that defines the verb; the order is that
#: of ``--help``.
TASKS: Mapping[str, Mapping[str, str]] = {
    "Measure": {
        "doctor": "machine",
        "build": "machine",
        "platforms": "platforms",
        "run": "measure",
        "ab": "commands",
        "submit": "measure",
        "continue": "measure",
        "status": "measure",
        "runs": "measure",
    },
    "Look": {
        "show": "results",
        "compare": "results",
        "explain": "results",
        "report": "reporting",
        "trend": "reporting",
        "nodes": "reporting",
        "reference": "exchange",
    },
    "Predict": {
        "profile": "application",
        "predict": "application",
        "forecast": "forecast",
        "calibrate": "exchange",
    },
    "Exchange": {
        "import": "exchange",
        "export": "exchange",
        "reparse": "exchange",
        "published": "catalogue",
        "schema": "catalogue",
    },
    "Extend": {"new": "template", "probes": "catalogue", "studies": "catalogue"},
}
#: A limit longer than any sentence, so that the help wraps sentences and does not cut them.
_WHOLE = 1000


def import_verbs() -> None:
    """Import the modules of all verbs; the import declares the outputs of the verbs."""
    for verbs in TASKS.values():
        for module in verbs.values():
            import_module(f"bareline.cli.{module}")


class Verbs(Mapping[str, Any]):
    """A mapping from verbs to commands, which imports the module of a verb at its first use.

    A command has the type `Any`, because newer versions of Typer contain a copy of click, whose
    classes differ from click's.
    """

    _modules: Mapping[str, str]

    def __init__(self) -> None:
        self._modules: dict[str, str] = {}
        for modules in TASKS.values():
            self._modules.update(modules)

    def __getitem__(self, verb: str) -> Any:
        return commands_of(self._modules[verb])[verb]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


@cache
def commands_of(module: str) -> Mapping[str, Any]:
    """Return the commands of a module, by verb."""
    whole = typer.Typer(rich_markup_mode=None)
    whole.add_typer(import_module(f"bareline.cli.{module}").app)
    commands: Mapping[str, Any] = typer.main.get_command(whole).commands  # type: ignore[attr-defined]
    return commands


class VerbsByTask(TyperGroup):
    """The group of all verbs, with a section of ``--help`` for each task."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = Verbs()  # type: ignore[assignment]

    @override
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a section of the help for each task."""
        for task, verbs in TASKS.items():
            with formatter.section(task):
                formatter.write_dl(
                    [(verb, self.commands[verb].get_short_help_str(limit=_WHOLE)) for verb in verbs]
                )
