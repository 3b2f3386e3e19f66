"""What passes the shell of another machine: a command there, how it ended, and its mark."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Mapping, Sequence

#: Defines the function that ends what carries a trial's mark, and waits until it is gone: nothing
#: is to run into the next trial. $1 is the mark as VARIABLE=VALUE.
END_MARKED = """\
end_marked() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        left=
        for p in $(grep -lazsxF "$1" /proc/[0-9]*/environ); do
            p=${p%/environ}
            [ "${p#/proc/}" = $$ ] || { kill -9 "${p#/proc/}" 2>/dev/null && left=yes; }
        done
        [ -n "$left" ] || return 0
        sleep 0.05
    done
}
"""


def remote_line(
    argv: Sequence[str], env: Mapping[str, str] | None = None, cwd: str | None = None
) -> str:
    """Write a command as one line for a shell on another machine; quoted here and only here."""
    inner = list(argv)
    if env:
        inner = ["env", *(f"{key}={value}" for key, value in env.items()), *inner]
    line = shlex.join(inner)
    if cwd:
        line = f"cd {shlex.quote(cwd)} && {line}"
    # A shell that stays tells death by a signal as a code; ssh alone says 255 for everything.
    return f"{line}; exit $?"


def signal_as_negative(code: int) -> int:
    """Turn a shell's way of telling death by a signal, 128 and more, into ``subprocess``'s."""
    return 128 - code if 128 < code < 128 + signal.NSIG else code
