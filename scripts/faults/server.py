"""The side of `zygote` that forks: imports bareline once, then runs each command in a child.

Reads one JSON object per line (``argv``, ``cwd``, ``out``, ``env``, ``limits``), answers with the
child's number and, when it has ended, with its status and the most memory it had, in KiB.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import resource
import sys
import traceback
from collections.abc import Callable

#: What commands import: once here, instead of in every child.
PRELOADED = (
    "bareline.analysis.judgements.comparison",
    "bareline.cli.main",
    "bareline.platforms.listing",
    "bareline.report.content.document",
    "bareline.report.exhibits.base",
    "bareline.report.page.files",
    "bareline.report.terminal.results",
    "bareline.session.reparse",
    "bareline.session.runner",
    "bareline.stats",
)


def main() -> None:
    """Serve until the other side closes."""
    for name in PRELOADED:
        importlib.import_module(name)
    from bareline.cli.main import main as bareline_main
    from bareline.platforms.base import load_platform_types
    from bareline.probes.base import load_probes
    from bareline.report.exhibits.base import load_exhibits

    for load in (load_probes, load_platform_types, load_exhibits):
        load()
    # What is there stays: a child neither looks through it nor copies its pages.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        job = json.loads(line)
        child = os.fork()
        if child == 0:
            _prepare(job)
            sys.argv = ["bareline", *job["argv"]]
            os._exit(_code_of(bareline_main))
        print(child, flush=True)
        _, status, used = os.wait4(child, 0)
        print(status, used.ru_maxrss, flush=True)


def _code_of(command: Callable[[], None]) -> int:
    """Run a command; give its exit code, without the seconds of an interpreter that ends."""
    try:
        command()
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return 1
    return code


def _prepare(job: dict) -> None:
    os.setsid()
    os.chdir(job["cwd"])
    os.environ.update(job["env"])
    out = os.open(job["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    for module in job["patches"]:
        exec(module, {})
    for name, value in job["limits"].items():
        number = getattr(resource, name)
        resource.setrlimit(number, (value, resource.getrlimit(number)[1]))


if __name__ == "__main__":
    main()
