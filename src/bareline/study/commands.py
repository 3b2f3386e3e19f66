"""The study that compares some command lines: which is faster, or prints the better value.

``bareline ab`` measures this study, and prints it with ``--plan``. It is an ordinary study whose
variants are the commands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any

from bareline.study.problems import LISTED, TABLES
from bareline.study.study import Study, study_from_toml
from bareline.vocabulary.errors import UsageError
from bareline.vocabulary.looks import DEFAULT_LOOKS
from bareline.vocabulary.model import Better
from bareline.vocabulary.units import BASE_UNITS, count

#: The study of the commands.
STUDY = "ab"
#: The probe of the commands, and its figures: the wall time, or a number of the output.
PROBE = "app.command"
TIME = "time"
FIGURE = "value"
#: Syntax that only a shell reads: pipes, redirections, variables, patterns, several commands.
_SHELL = re.compile(r"[|&;<>()$`*?\[\]#~!{}\n]|^\s*[A-Za-z_][A-Za-z0-9_]*=")
#: A figure whose pattern names a rate is better where it is higher.
_RATE = re.compile(r"/ *s\b|per second|\b[kmgt]?(flops?|ops)\b", re.IGNORECASE)
#: Looks by the number of blocks that there is time for: short programs are launched more often.
_LOOKS = ((50, (8, 20, 50)), (20, (8, 12, 20)))
_AIM_S = 6.0
#: Time of bareline itself between two launches on this machine.
_BETWEEN_S = 0.05
_LONGEST_S = 3600.0
_TIMES_LONGER = 20.0
_SHORTEST_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class CommandOptions:
    """The options for comparing commands.

    - `ranks`: number of MPI ranks of each command, started by the platform's MPI. None: each
      command is started once, without change, and may itself be an ``mpirun`` line.
    - `metric`: regular expression whose group is the compared value; "" for the wall time.
    - `better`: the good direction of the value; None: the direction that its pattern suggests.
    - `unit`: unit of the value.
    - `launches`: number of launches of each command; None: as many as the time permits.
    """

    folder: Path
    ranks: int | None = None
    metric: str = ""
    better: Better | None = None
    unit: str = "1"
    margin: float | None = None
    launches: int | None = None


def command_study(
    commands: Sequence[str], options: CommandOptions, seconds: Sequence[float] = ()
) -> Study:
    """Return the study that compares command lines with the first of them.

    - `seconds`: the duration of a launch of each command, if known. It determines the number of
      launches and their time limit.

    Raises UsageError: there are fewer than two commands, a line cannot be parsed, or an option is
        not valid.
    """
    if len(commands) < 2:
        raise UsageError(
            f"{count(len(commands), 'command')} given, but the comparison needs two commands",
            hint="write `bareline ab -- './a' './b --fast'`, each in quotes",
        )
    if len(commands) > len(ascii_lowercase):
        raise UsageError(
            f"{len(commands)} commands are given, but at most {len(ascii_lowercase)} are "
            "compared at once"
        )
    needs_shell = any(map(_SHELL.search, commands))
    words = [_words(line, needs_shell=needs_shell) for line in commands]
    names = ascii_lowercase[: len(commands)]
    program: dict[str, Any] = {
        "command": ["{command}"],
        "mpi": options.ranks is not None,
        "folder": str(options.folder),
        **_measured(options),
    }
    measure: dict[str, Any] = {"probe": PROBE, "timeout_s": _limit_s(seconds)}
    if options.ranks is not None:
        measure["ranks"] = options.ranks
    content = {
        "study": _head(commands, names[0], options, seconds),
        "variant": {
            name: {"title": line, "command": argv}
            for name, line, argv in zip(names, commands, words, strict=True)
        },
        "app": {PROBE.partition(".")[2]: program},
        "measure": [measure],
    }
    study = study_from_toml(content, where="ab", own_names=True)
    return study if options.launches is None else study.with_launches(options.launches)


def command_lines(
    study: Mapping[str, Any], platforms: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """Return the command line of each platform; empty if the run does not compare commands.

    - `study`, `platforms`: tables in the header of the run.
    """
    probes = [measure["probe"] for measure in study["measure"]]
    if study["study"]["name"] != STUDY or probes != [PROBE]:
        return {}
    if not all(table.get("command") and table.get("title") for table in platforms.values()):
        return {}
    return {name: str(table["title"]) for name, table in platforms.items()}


def study_text(study: Study) -> str:
    """Return a study in the form of a user's file, without defaults."""
    import tomli_w

    content = study.to_toml()
    given = study.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    head = {key: given[key] for key in content["study"] if key in given}
    if study.looks:
        del head["launches"]  # the last look is this number
    tables: dict[str, Any] = {"study": head}
    listed = []
    for table, (key, _) in TABLES.items():
        if table in LISTED:
            listed += [f"[[{table}]]\n{tomli_w.dumps(row)}" for row in given.get(key, [])]
        elif given.get(key):
            tables[table] = given[key]
    return "\n".join([tomli_w.dumps(tables), *listed])


def rate_words(options: CommandOptions) -> str:
    """Describe the direction that is assumed to be better; "" if the user gave the direction."""
    if not options.metric or options.better is not None:
        return ""
    better = _better(options)
    other = "lower" if better == "higher" else "higher"
    return f"a {better} figure is taken for better; --better {other} reverses this"


def _better(options: CommandOptions) -> Better:
    if options.better is not None:
        return options.better
    is_rate = options.unit.endswith("/s") or bool(_RATE.search(options.metric.replace("\\", "")))
    return "higher" if is_rate else "lower"


def _head(
    commands: Sequence[str], baseline: str, options: CommandOptions, seconds: Sequence[float]
) -> dict[str, Any]:
    head: dict[str, Any] = {
        "name": STUDY,
        "title": " against ".join(commands)[:200],
        "baseline": baseline,
        "looks": list(_looks(seconds)),
        "precision": 0,  # the question is answered at the looks
    }
    return head if options.margin is None else {**head, "margin": options.margin}


def _measured(options: CommandOptions) -> dict[str, Any]:
    """Return the keys of a program that define the compared value."""
    if not options.metric:
        title = "Wall time"
        return {"title": title, "metrics": {TIME: {"wall": True}}, "verify": [f"{TIME} > 0"]}
    if options.unit not in BASE_UNITS:
        units = ", ".join(sorted(BASE_UNITS))
        raise UsageError(
            f"'{options.unit[:20]}' is not a unit", where="--unit", hint=f"use {units}"
        )
    try:
        groups = re.compile(options.metric).groups
    except re.error as error:
        raise UsageError(
            f"the value is not a valid regular expression: {error}",
            where="--metric",
            hint="quote it with '...'",
        ) from error
    if groups != 1:
        raise UsageError(
            f"'{options.metric[:80]}' has {count(groups, 'group')}, but only one group "
            "can be the value",
            where="--metric",
            hint="put the number in parentheses: 'time *= *([0-9.]+)'; other groups as (?:...)",
        )
    figure = {"regex": options.metric, "unit": options.unit, "better": _better(options)}
    return {"title": "Figure", "metrics": {FIGURE: figure}, "verify": [f"abs({FIGURE}) < 1e300"]}


def _words(line: str, *, needs_shell: bool) -> list[str]:
    """Return the words of a command line, parsed by a shell if any command line needs one."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(
            f"the command cannot be read ({str(error).lower()}): {line[:80]}",
            hint="write each command in its own quotes",
        ) from error
    if not words or not words[0]:
        raise UsageError("one of the commands is empty", hint="write `bareline ab -- './a' './b'`")
    return ["sh", "-c", line] if needs_shell else words


def _looks(seconds: Sequence[float]) -> tuple[int, ...]:
    if not seconds:
        return DEFAULT_LOOKS
    blocks = _AIM_S / sum(each + _BETWEEN_S for each in seconds)
    return next((looks for fewest, looks in _LOOKS if blocks >= fewest), DEFAULT_LOOKS)


def _limit_s(seconds: Sequence[float]) -> float:
    """Return the time limit of a launch in s.

    It is generous, because it only has to end a program that hangs.
    """
    longest = max(seconds, default=_LONGEST_S / _TIMES_LONGER)
    return round(max(_SHORTEST_LIMIT_S, _TIMES_LONGER * longest), 1)
