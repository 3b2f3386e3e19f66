"""The output of the doctor's checks, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text
from typing_extensions import TypedDict

from bareline.doctor.check import Area, Health, HostCheck
from bareline.doctor.purposes import lines, next_command
from bareline.report.writers.console import print_paragraph
from bareline.vocabulary.rows import row_of

_MARKS = {Health.OK: ("✓", "green"), Health.WARN: ("!", "yellow"), Health.MISSING: ("–", "dim")}
#: Replacements of signs if the output can only show ASCII.
_ASCII = {"✓": "+", "–": "-", "→": ">"}
#: The least width of a finding in cells. On a narrower terminal, its name is on a separate line.
_LEAST_WIDTH = 30


def render(checks: Sequence[HostCheck], console: Console) -> None:
    """Print checks and next steps.

    Lines are wrapped only on a terminal. In a file or a pipe, each command stays on one line.
    """
    indent = 5 + max((len(check.name) for check in checks), default=0)
    if console.width - indent < _LEAST_WIDTH:
        indent = 5
    for area in Area:
        group = [check for check in checks if check.group is area]
        if not group:
            continue
        _print(Text(area.value, style="bold"), console)
        for check in group:
            _print_check(check, indent, console)
        console.print()
    _print_item(Text(), Text(summary(checks), style="bold"), console)


def render_purposes(checks: Sequence[HostCheck], console: Console) -> None:
    """Print the purposes for which this machine is ready or not, and a first command."""
    last = ""
    for head, text in lines(checks):
        title = head if head != last else ""
        _print_item(Text(f"{title:12} ", "bold"), Text(text), console)
        last = head
    _print_item(Text(f"{'next':12} ", "bold"), Text(next_command(checks)), console)
    console.print()
    about = (
        f"`bareline doctor --all` shows all {len(checks)} checks and the fix of each failed one; "
        "`bareline doctor --for STUDY` shows the checks that a study needs"
    )
    _print_item(Text(), Text(about, style="dim"), console)


def _print_check(check: HostCheck, indent: int, console: Console) -> None:
    """Print the finding of a check, and its fix on the next line."""
    mark, colour = _MARKS[check.status]
    head = Text.assemble("  ", (_sign(mark, console), colour), " ", check.name)
    if head.cell_len >= indent:
        _print(head, console)
        head = Text()
    head.pad_right(indent - head.cell_len)
    style = "dim" if check.status is Health.MISSING else ""
    _print_item(head, Text(check.detail, style=style), console)
    if check.hint and check.status is not Health.OK:
        arrow = Text(" " * indent).append(f"{_sign('→', console)} ", "cyan")
        _print_item(arrow, Text(check.hint, style="cyan"), console)


def _print_item(head: Text, text: Text, console: Console) -> None:
    """Print a text after its head: wrapped on a terminal, elsewhere in one line."""
    if console.is_terminal:
        print_paragraph(text, console, lead=head)
        return
    _print(head + Text(" ".join(text.plain.split()), style=text.style), console)


def _sign(sign: str, console: Console) -> str:
    """Return a sign, or a substitute if the output cannot show it."""
    if "utf" in console.encoding.lower():
        return sign
    return _ASCII.get(sign, sign)


def _print(text: Text, console: Console) -> None:
    console.print(text, soft_wrap=True)


def summary(checks: Sequence[HostCheck]) -> str:
    """Return the numbers of checks by result, in one line."""
    count = {status: sum(check.status is status for check in checks) for status in Health}
    return (
        f"{count[Health.OK]} work, {count[Health.WARN]} deserve a look, "
        f"{count[Health.MISSING]} cannot be used here"
    )


class Checked(TypedDict):
    """``doctor``: the checks of this machine, with a fix for each failed check."""

    group: str
    name: str
    status: Health
    detail: str
    hint: str


def to_rows(checks: Sequence[HostCheck]) -> list[Checked]:
    """Return the checks as flat records."""
    return [row_of(Checked, check) for check in checks]
