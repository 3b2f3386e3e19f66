"""The errors that bareline raises for a user: the problem, its place, and the next step."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterable

from bareline.vocabulary.source_place import place_of


def did_you_mean(wrong: str, names: Iterable[str], otherwise: str) -> str:
    """Return a hint with the closest known name, or the hint `otherwise` if no name is close."""
    close = difflib.get_close_matches(wrong, names, 1)
    return f"did you mean '{close[0]}'?" if close else otherwise


#: Longer texts come from names that are meant to do harm; paths may have some hundred characters.
_LONGEST_WORD = 400
_LONGEST_LINE = 1600


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def one_line(text: str) -> str:
    """Format any text as one printable line of bounded length."""
    printable = "".join(map(_printable, text))
    printable = re.sub(
        rf"\S{{{_LONGEST_WORD},}}", lambda match: _shortened(match[0], 80), printable
    )
    return _shortened(printable, _LONGEST_LINE)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-(most // 4) :]}"


class BarelineError(Exception):
    """Root of every error that ends a command with one line instead of a traceback.

    - `what`: the problem, as a clause without a full stop.
    - `where`: the file, key, platform or trial that has the problem.
    - `hint`: the next step for the reader, as an imperative.
    """

    exit_code = 2
    #: Whether the message may have several lines, for example the messages of a compiler.
    in_lines = False

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        #: The call that made the error, by which `message_codes.code_of` finds its code.
        self.made_at = place_of(sys._getframe(1))

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        whole = f"{text}; {self.hint}" if self.hint else text
        if self.in_lines:
            return "\n".join(one_line(line) for line in whole.splitlines())
        return one_line(whole)


class UsageError(BarelineError):
    """The command line asks for something that does not exist or does not fit together."""


class StudyError(BarelineError):
    """A study file is malformed, or asks for a probe or parameter that does not exist."""


class PlatformError(BarelineError):
    """A platform is wrongly described, cannot be acquired, or breaks while in use."""


class NotNow(PlatformError):
    """A platform cannot be acquired now, but perhaps later, for example if a queue is long."""


class TimeUp(PlatformError):
    """The batch job of this run ends; the remaining trials did not fail and can run later."""


class ToolMissing(PlatformError):
    """A program that a probe or platform needs is not installed where it is needed."""


class BuildError(PlatformError):
    """The native programs could not be configured or compiled for a platform."""

    in_lines = True


class PluginError(BarelineError):
    """A plug-in of an installed package cannot be loaded, or its name is already used."""


class ProbeError(BarelineError):
    """The parameters that a study or a user gives are not valid for a probe."""


class ParseError(BarelineError):
    """The output of a trial differs from the output of a successful program."""


class OutOfTime(ParseError):
    """A program ended without an error, but its time budget was too short to measure a point."""


class ImportRefused(BarelineError):
    """A file to import cannot be read, or its format is unknown."""


class StoreError(BarelineError):
    """A run directory cannot be read or written."""


class OtherMachine(StoreError):
    """A run would continue on a machine that differs from the machine of its earlier trials."""


class Stopped(BarelineError):
    """A run ended early, because a program failed too often on every platform."""


class LimitReached(BarelineError):
    """A run ended early, because it may not use more core hours."""


class ReportError(BarelineError):
    """A part of a report cannot be drawn."""


class ProfileError(BarelineError):
    """A profile cannot be made or read, or is incomplete."""


class AnalysisError(BarelineError):
    """The records do not permit the requested comparison, prediction or report."""
