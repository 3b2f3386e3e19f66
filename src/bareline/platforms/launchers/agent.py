"""The script with which a launcher reaches the hosts, in the place of ssh."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence


def agent_text(
    commands: Mapping[tuple[str, ...], Sequence[str]],
    before: Sequence[str] = (),
    *,
    for_a_shell: bool = False,
) -> str:
    """Write the script; a launcher calls it as: agent [option...] address command...

    - `commands`: the command that logs in to a host, by the names under which the launcher knows
      it.
    - `before`: words that load what a command needs on a host.
    - `for_a_shell`: the command takes one argument, a line for a shell, as ``sh -c`` does.
    """
    given = '"$*"' if for_a_shell else '"$@"'
    cases = [
        f"{'|'.join(names)}) exec {shlex.join(command)} {given} ;;"
        for names, command in commands.items()
    ]
    return "\n".join(
        [
            "#!/bin/sh",
            "while :; do case $1 in -*) shift ;; *) break ;; esac; done",
            "address=$1",
            "shift",
            *(_wrapped(before) if before else ()),
            "case $address in",
            *cases,
            "esac",
            'echo "no host $address" >&2',
            "exit 255",
            "",
        ]
    )


def _wrapped(before: Sequence[str]) -> list[str]:
    """Have the remote shell load modules first; what it is given is one line of words."""
    return [
        f"before={shlex.quote(shlex.join(before))}",
        """line=$(printf '%s' "$*" | sed "s/'/'\\\\\\\\''/g")""",
        """set -- "$before sh -c '$line'\"""",
    ]
