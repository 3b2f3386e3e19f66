"""Hostile values in the settings of ssh hosts and batch jobs: nothing of them is executed.

The programs in the path stand for ssh and for the batch systems, and do what those do: ssh hands
one text to a shell of the host, a batch system runs the script that it is given. Whatever a value
has executed makes a file, the canary.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import tomli_w
from bench import Bench, judge
from clusters import STUDY_OF_HELLO
from table import Count, NotHere
from zygote import Ended

#: What shells, ssh and batch systems could take for more than a value; {canary} is the file.
VALUES = (
    "$(touch {canary})",
    "`touch {canary}`",
    "; touch {canary};",
    "x;touch${{IFS}}{canary}",
    "' ; touch {canary} ; '",
    '" ; touch {canary} ; "',
    "x\ntouch {canary}\n",
    "x\r\ntouch {canary}\r\n",
    "| touch {canary}",
    "& touch {canary} &",
    "&& touch {canary}",
    "|| touch {canary}",
    ">{canary}",
    "$(>{canary})",
    "-oProxyCommand=touch {canary}",
    "-o ProxyCommand=touch {canary}",
    "-F/dev/stdin",
    "--wrap=touch {canary}",
    "-S touch {canary}",
    "x$(touch {canary})y",
    "\\$(touch {canary})",
    "'$(touch {canary})'",
    "{{{{touch,{canary}}}}}",
    "a\u009b31m$(touch {canary})",
    "../../..$(touch {canary})",
    "%h`touch {canary}`",
)
#: Settings of ssh hosts; what is one program by its meaning (`agent`, `config`) is not tried.
_SSH = (
    "hosts", "exclude", "modules", "software", "mpi", "subnet", "device", "folder", "io_folder",
    "group", "environment", "environment name",
)  # fmt: skip
_SLURM = (
    "partition", "account", "qos", "constraint", "reservation", "switch_count", "mpi_type",
    "modules", "environment",
)  # fmt: skip
#: What submits a job, and where a batch system has its script: as an argument, or as its input.
_SUBMITS = {"slurm": "sbatch", "pbs": "qsub", "lsf": "bsub", "flux": "flux"}
#: Where an unquoted value executes something, of each kind: proof that the canary is noticed.
_PLANTED = (("ssh", "environment"), ("submit", "out"), ("submit", "folder"))
_LISTS = {"hosts", "modules", "software"}
#: Runs the job as its batch system does, and answers as that does.
_BATCH = """#!/bin/sh
system=${0##*/}
case $system in
bsub) # joins the command, and hands it to a shell
    while [ "$1" != /bin/sh ]; do shift || exit; done
    sh -c "$*" ;;
*)
    for last; do :; done
    sh "$last" ;;
esac </dev/null >/dev/null 2>&1
case $system in
sbatch) echo 7 ;;
qsub) echo 7.server ;;
bsub) echo "Job <7> is submitted to queue <x>." ;;
flux) echo f7 ;;
esac
"""


def _programs(bench: Bench) -> Path:
    programs = bench.room("programs")
    shutil.copy(Path(__file__).with_name("liar.py"), programs / "ssh")
    (programs / "lie.json").write_text(json.dumps({"kind": "none"}))
    for name in _SUBMITS.values():
        (programs / name).write_text(_BATCH)
        (programs / name).chmod(0o755)
    return programs


def _platform(kind: str, setting: str, value: str) -> dict[str, object]:
    table: dict[str, object] = {"type": kind}
    if kind == "ssh":
        table |= {"hosts": ["liar"], "connect_s": 2}
    if setting == "environment":
        return {**table, "environment": {"VALUE": value}}
    if setting == "environment name":
        return {**table, "environment": {value: "1"}}
    return {**table, setting: [value] if setting in _LISTS else value}


#: A bareline that leaves the hostile value alone unquoted: the canary must be noticed then.
_UNQUOTED = """
import shlex
_quote, _value = shlex.quote, {value!r}
shlex.quote = lambda word: _value.join(_quote(part) if part else "" for part in word.split(_value))
shlex.join = lambda words: " ".join(shlex.quote(word) or "''" for word in words)
"""


@dataclass(frozen=True)
class _Case:
    """A hostile value in a setting of a kind of place: `ssh`, `slurm` or `submit`."""

    kind: str
    setting: str
    value: str

    def __str__(self) -> str:
        return f"{self.kind} {self.setting} {self.value!r}"


class _Host:
    """A place whose programs execute what they are given, and where a canary is looked for."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self._env = {"PATH": f"{_programs(bench)}:{os.environ['PATH']}"}

    def run(self, case: _Case, *, quoted: bool = True) -> tuple[Ended, list[Path]]:
        """Run or submit with a hostile value; return the end, and the canaries that were made."""
        place = self._bench.room("settings")
        canary = place / "OWNED"
        # A folder's name has no slash, so that its canary is made where the job runs.
        named = case.setting in ("out", "folder") and case.kind == "submit"
        text = case.value.format(canary=canary.name if named else canary)
        (place / "s.toml").write_text(STUDY_OF_HELLO)
        submits = case.kind == "submit"
        table = {"type": "local"} if submits else _platform(case.kind, case.setting, text)
        (place / "p.toml").write_text(tomli_w.dumps({"platform": {"host": table}}))
        argv = ["--platforms", place / "p.toml", "--on", "host"]
        verb, out, cwd = "run", "run", place
        if case.kind != "ssh":
            system = self._bench.random.choice(sorted(_SUBMITS)) if submits else "slurm"
            verb = "submit"
            argv += ["--with", system]
        if submits and case.setting == "options":
            argv += [f"--batch-options={text}"]
        if submits and case.setting == "out":
            out = text.replace("/", "_")
        if submits and case.setting == "folder":
            cwd = place / text.replace("/", "_")[:200]
            cwd.mkdir()
        patches = [] if quoted else [_UNQUOTED.format(value=text)]
        line = [verb, place / "s.toml", *argv, f"--out={out}"]
        ended = self._bench.zygote.run(line, cwd, env=self._env, patches=patches)
        return ended, [*place.rglob(canary.name), *Path("/tmp").glob(canary.name)]


def _all_cases() -> list[_Case]:
    kinds = [*(("ssh", name) for name in _SSH), *(("slurm", name) for name in _SLURM)]
    kinds += [("submit", name) for name in ("options", "out", "folder")]
    return [_Case(kind, setting, value) for kind, setting in kinds for value in VALUES]


def _prove(host: _Host, count: Count) -> None:
    """Check that canaries are noticed, where bareline quotes nothing; raises NotHere."""
    for kind, setting in _PLANTED:
        for value in VALUES:
            _, made = host.run(_Case(kind, setting, value), quoted=False)
            if made:
                count.record(f"planted: {_Case(kind, setting, value)}", verdict="noticed")
                break
        else:
            raise NotHere(f"no canary is noticed in {setting} of {kind} without quoting")


def hostile_settings(bench: Bench, tries: int) -> Count:
    """Put a hostile value into a setting of ssh hosts or of batch jobs, and look for the canary."""
    count = Count()
    host = _Host(bench)
    _prove(host, count)
    for case in bench.share(_all_cases(), tries):
        ended, made = host.run(case)
        count.tries += 1
        judge(count, ended, str(case))
        if made:
            count.left += 1
            count.notes.append(f"{case}: it was executed: {made}")
        count.record(str(case), verdict="BAD: executed" if made else "nothing executed")
    return count
