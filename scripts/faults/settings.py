"""Hostile values in the settings of ssh hosts and batch jobs: nothing of them is executed.

The programs in the path stand for ssh and for the batch systems, and do what those do: ssh hands
one text to a shell of the host, a batch system runs the script that it is given. Whatever a value
has executed makes a file, the canary.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import tomli_w
from bench import Bench, judge
from clusters import STUDY_OF_HELLO
from table import Count

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
_LISTS = {"hosts", "modules", "software"}
#: Runs the script of a job as a batch system does, and answers as all of the four.
_BATCH = """#!/bin/sh
for last; do :; done
if [ -f "$last" ]; then sh "$last"; else sh; fi </dev/null >/dev/null 2>&1
echo "Submitted batch job 7"; echo "Job <7> is submitted to queue <x>."; echo 7.server
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


def hostile_settings(bench: Bench, tries: int) -> Count:
    """Put a hostile value into a setting of ssh hosts or of batch jobs, and look for the canary."""
    count = Count()
    programs = _programs(bench)
    env = {"PATH": f"{programs}:{os.environ['PATH']}"}
    kinds = [*(("ssh", name) for name in _SSH), *(("slurm", name) for name in _SLURM)]
    kinds += [("submit", name) for name in ("options", "out", "folder")]
    cases = [(kind, setting, value) for kind, setting in kinds for value in VALUES]
    bench.random.shuffle(cases)
    for kind, setting, value in cases[:tries]:
        place = bench.room("settings")
        canary = place / "OWNED"
        text = value.format(canary=canary)
        (place / "s.toml").write_text(STUDY_OF_HELLO)
        table = {"type": "local"} if kind == "submit" else _platform(kind, setting, text)
        (place / "p.toml").write_text(tomli_w.dumps({"platform": {"host": table}}))
        argv = ["--platforms", place / "p.toml", "--on", "host"]
        verb, out, cwd = "run", "run", place
        if kind != "ssh":
            system = bench.random.choice(sorted(_SUBMITS)) if kind == "submit" else "slurm"
            verb = "submit"
            argv += ["--with", system]
        if kind == "submit" and setting == "options":
            argv += [f"--batch-options={text}"]
        if kind == "submit" and setting == "out":
            out = text.replace("/", "_").replace(canary.name, "OWNED")
        if kind == "submit" and setting == "folder":
            cwd = place / text.replace("/", "_")[:200]
            cwd.mkdir()
        ended = bench.zygote.run([verb, place / "s.toml", *argv, f"--out={out}"], cwd, env=env)
        what = f"{kind} {setting} {value!r}"
        count.tries += 1
        judge(count, ended, what)
        owned = [*place.rglob("*OWNED"), *Path("/tmp").glob("OWNED*")]
        made = [path for path in owned if path.name == "OWNED"]
        if made:
            count.left += 1
            count.notes.append(f"{what}: it was executed: {made}")
        count.record(what, verdict="BAD: executed" if made else "nothing executed")
    return count
