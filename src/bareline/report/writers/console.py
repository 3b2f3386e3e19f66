"""The console on which everything is printed.

Names, reasons and titles come from files and programs. Therefore they are never interpreted as
markup, and their control characters are replaced.
"""

from __future__ import annotations

import os
import sys
import unicodedata
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

WIDTH = 100
#: Em quad, em space and ideographic space, with which tables of pages indent.
_WIDE_SPACES = "\u2001\u2003\u3000"
#: Characters that allow or forbid a break within a word; a terminal does not show them.
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"


def make_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """Return a console; if `quiet`, the console prints nothing.

    The console is as wide as the terminal, or as COLUMNS sets it; without both it has 100 columns.
    It prints without colours, bold or dim letters if NO_COLOR is set or there is no terminal.
    """
    stream = sys.stderr if stderr else sys.stdout
    console = Console(
        file=stream,
        highlight=False,
        markup=False,
        emoji=False,
        quiet=quiet,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
    )
    columns = os.environ.get("COLUMNS", "")
    if not console.is_terminal and not (columns.isdecimal() and int(columns)):
        console.width = WIDTH
    return console


def clean(text: object) -> str:
    """Return a text without control characters; every kind of space becomes a plain space."""
    return "".join(map(_clean_sign, str(text)))


def _clean_sign(sign: str) -> str:
    if sign.isprintable() or sign == "\n":
        return sign
    if sign in _WIDE_SPACES:
        return "  "
    if unicodedata.category(sign) == "Zs":
        return " "
    return "" if sign in _INVISIBLE else "\ufffd"


def print_paragraph(text: Text, console: Console, *, lead: str | Text = "") -> None:
    """Print text wrapped to the console's width, without spaces at the ends of lines.

    Copied text then has no trailing spaces. The first line begins with `lead`; every further line
    is indented by the length of `lead`.
    """
    begin = Text(lead) if isinstance(lead, str) else lead
    indent = Text(" " * begin.cell_len)
    width = max(console.width - begin.cell_len, 1)
    for line in text.wrap(console, width) or [Text()]:
        line.rstrip()
        console.print(begin + line, soft_wrap=True)
        begin = indent


def print_next(commands: Sequence[str], console: Console) -> None:
    """Print the commands to type next, each on one line so that it can be copied."""
    for index, command in enumerate(commands):
        text = Text("next: " if index == 0 else "      ", style="dim")
        console.print(text + Text(clean(command), style="cyan"), soft_wrap=True)
