"""Print the doctor's findings, for people and for programs."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text
from typing_extensions import TypedDict

from bareline.doctor.check import Area, Health, HostCheck
from bareline.doctor.purposes import lines, next_command
from bareline.vocabulary.rows import row_of

_MARKS = {Health.OK: ("✓", "green"), Health.WARN: ("!", "yellow"), Health.MISSING: ("–", "dim")}


def render(checks: Sequence[HostCheck], console: Console) -> None:
    """Print findings and next steps; wrapped only on a terminal: elsewhere commands stay whole."""
    indent = 5 + max((len(check.name) for check in checks), default=0)
    for area in Area:
        if group := [check for check in checks if check.group is area]:
            _print(console, Text(area.value, style="bold"))
            for check in group:
                _print_check(check, indent, console)
            _print(console)
    _print(console, Text(summary(checks), style="bold"))


def render_purposes(checks: Sequence[HostCheck], console: Console) -> None:
    """Print the purposes that this machine is ready for, the others, and a first command."""
    last = ""
    for head, text in lines(checks):
        title = head if head != last else ""
        _print_lines(console, f"{title:12} ", text)
        last = head
    _print_lines(console, f"{'next':12} ", next_command(checks))
    _print(console)
    about = f"{len(checks)} checks, with the fix of each: `bareline doctor --all`"
    _print(console, Text(f"{about}; for a study: `--for nebula`", style="dim"))


def _print_lines(console: Console, head: str, text: str) -> None:
    first, *rest = _wrapped(text, console, len(head))
    _print(console, Text.assemble((head, "bold"), first))
    for line in rest:
        _print(console, Text(" " * len(head) + line))


def _print_check(check: HostCheck, indent: int, console: Console) -> None:
    mark, colour = _MARKS[check.status]
    arrow = "→ "
    if "utf" not in console.encoding.lower():
        mark, arrow = {"✓": "+", "–": "-"}.get(mark, mark), "> "
    style = "dim" if check.status is Health.MISSING else ""
    lines = [Text(line, style=style) for line in _wrapped(check.detail, console, indent)]
    if check.hint and check.status is not Health.OK:
        first, *rest = _wrapped(arrow + check.hint, console, indent)
        lines += [Text(line, style="cyan") for line in (first, *("  " + line for line in rest))]
    head = Text.assemble("  ", (mark, colour), " ", check.name)
    head.append(" " * (indent - len(head.plain)))
    _print(console, head + lines[0])
    for line in lines[1:]:
        _print(console, Text(" " * indent) + line)


def _wrapped(text: str, console: Console, indent: int) -> list[str]:
    if not console.is_terminal:
        return [" ".join(text.split())]
    width = max(30, console.width - indent) - 2
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _print(console: Console, *line: Text) -> None:
    console.print(*line, soft_wrap=True)


def summary(checks: Sequence[HostCheck]) -> str:
    """Count the findings in one line."""
    count = {status: sum(check.status is status for check in checks) for status in Health}
    return (
        f"{count[Health.OK]} work, {count[Health.WARN]} deserve a look, "
        f"{count[Health.MISSING]} cannot be used here"
    )


class Checked(TypedDict):
    """``doctor``: the checks of this machine, with the fix of each failed one."""

    group: str
    name: str
    status: Health
    detail: str
    hint: str


def to_rows(checks: Sequence[HostCheck]) -> list[Checked]:
    """Return the findings as flat records."""
    return [row_of(Checked, check) for check in checks]
