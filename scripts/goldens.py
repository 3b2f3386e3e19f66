#!/usr/bin/env python3
"""Outputs of about twenty runs, to compare before and after a change that must not alter them.

::

    scripts/goldens.py make /tmp/goldens/runs /tmp/goldens/before [RUN ...]
    scripts/goldens.py make /tmp/goldens/runs /tmp/goldens/after [RUN ...]
    scripts/goldens.py diff /tmp/goldens/before /tmp/goldens/after

The first folder receives the runs, which are planted, imported or copied from RUN when it has
none, and stays the same for every ``make`` after that. The second receives for each run a folder
with what each command prints, the text of the page, the Markdown and the tables inside the page.
``--only NAME`` makes the outputs of some runs alone.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import difflib
import gzip
import importlib.util
import io
import os
import re
import shutil
import sys
import traceback
from collections.abc import Callable, Mapping
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any

from bareline.testing.runs import planted_run

ROOT = Path(__file__).parents[1]
#: What is printed of every run, by the file it is kept in.
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "compare.txt": ("compare",),
    "compare.json": ("compare", "--json"),
    "compare-all.txt": ("compare", "--all"),
    "show.txt": ("show",),
    "show.json": ("show", "--json"),
    "facts.txt": ("show", "--facts", "--all"),
    "explain.txt": ("explain",),
    "explain.json": ("explain", "--json"),
    "status.txt": ("status",),
}
#: Outputs that are written to files.
FILES: Mapping[str, tuple[str, ...]] = {
    "page.html": ("report",),
    "report.md": ("report",),
    "samples.csv": ("export",),
    "medians.prom": ("export",),
}
_TAG = re.compile(r"<[^>]*>")
_UNREAD = re.compile(r"<(script|style)\b.*?</\1>", re.DOTALL)
_BLOCK = re.compile(
    r"</?(?:p|div|section|h\d|tr|li|ul|ol|figure|figcaption|details|summary|table|svg|text|dt|dd"
    r"|header|main|nav|aside|footer|caption|article)\b[^>]*>"
)
_FILE = re.compile(r'href="data:([\w/]+);base64,([^"]+)"[^>]*download="([^"]+)"|'
                   r'download="([^"]+)"[^>]*href="data:([\w/]+);base64,([^"]+)"')  # fmt: skip


def _module(path: str) -> ModuleType:
    """Load a module of the benchmarks or of the tests, which are no package."""
    folder = str((ROOT / path).parent)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(Path(path).stem + "_of_goldens", ROOT / path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    return module


def _study(name: str, **how: Any) -> Callable[[Path], object]:
    return lambda folder: _module("benchmarks/planted_study.py").plant(name, folder, **how)


def _null(platforms: Mapping[str, Mapping[str, Any]], **how: Any) -> Callable[[Path], object]:
    return lambda folder: planted_run(folder, platforms, **how)


def _usual(*names: str, **how: Any) -> Callable[[Path], object]:
    def make(folder: Path) -> object:
        module = _module("tests/report/conftest.py")
        plain = {"roles": module.ROLES} if how.pop("in_roles", False) else {}
        chosen = names or ("bare", "vm-virtio", "vm-e1000")
        return module.plant(folder, chosen, **plain, **how)

    return make


def _every_kind(folder: Path) -> object:
    from bareline.report.exhibits.base import load_exhibits

    module = _module("tests/report/conftest.py")
    probes = tuple(module._METRICS)
    exhibits = tuple(
        {"kind": kind, **({"probe": probe} if probe else {})}
        for kind in load_exhibits()
        for probe in ("", "mpi.pingpong", "mpi.allreduce", "npb.cg")
    )
    return module.plant(
        folder, probes=probes, roles=module.ROLES, exhibits=exhibits, ladder=True, blocks=6
    )


def _predicted(folder: Path) -> object:
    kept = _module("tests/report/exhibits/test_predictions.py").planted()
    run = planted_run(folder, launches=3)
    run.write_predictions(kept.to_json())
    return run


def _fleet(folder: Path) -> object:
    module = _module("benchmarks/planted_fleet.py")
    return module.plant(32, folder, faults=module.Faults(node=1.3))


def _imported(*patterns: str) -> Callable[[Path], object]:
    def make(folder: Path) -> object:
        data = ROOT / "tests" / "formats" / "data"
        files = sorted(str(file) for pattern in patterns for file in data.glob(pattern))
        code, text = _call(["import", *files, "--out", str(folder), "--platform", "theirs",
                            "--ranks", "2", "--skip-unknown"])  # fmt: skip
        if not folder.exists():
            sys.exit(f"goldens: nothing was imported (exit {code}):\n{text}")
        return None

    return make


def _copied(path: Path) -> Callable[[Path], object]:
    return lambda folder: shutil.copytree(path, folder)


_SOME = ("mpi.allreduce", "mpi.pingpong", "net.nuttcp", "npb.cg", "npb.mg", "app.heat")
RUNS: Mapping[str, Callable[[Path], object]] = {
    "null-pair": _null({"a": {}, "b": {"factor": 1.5}}),
    "null-equal": _null({"a": {}, "b": {"seed": 2}}, params={"spread": 0.003}, launches=12),
    "null-noisy": _null({"a": {}, "b": {"seed": 3}, "c": {"factor": 1.05}}, params={"spread": 0.2}),
    "null-failing": _null({"a": {}, "b": {"fail_every": 2}, "c": {"fail_every": 1}}),
    "null-all-failed": _null({"a": {"fail_every": 1}, "b": {"fail_every": 1}}),
    "null-alone": _null({"a": {}}, params={"points": 3}),
    "null-control": _null({"a": {}, "b": {"factor": 2.0}}, control=True),
    "usual": _usual(),
    "usual-hostile": _usual("bare<script>'&{{7}}", "vm<b>|*_`", blocks=7),
    "usual-eight": _usual("bare", "vm-virtio", "vm-e1000", "sriov", "emulated", "cloud",
                          "simulated", "other", blocks=5),
    "usual-roles": _usual(in_roles=True),
    "every-kind": _every_kind,
    "predicted": _predicted,
    "nebula": _study("nebula", launches=4, usual=True, probes=_SOME),
    "nebula-no-loss": _study("nebula", launches=4, power=0.0, probes=_SOME),
    "nebula-failing": _study("nebula", launches=4, failing=["npb.cg"], probes=_SOME),
    "flexible-fabric": _study("flexible-fabric", launches=4),
    "magellan": _study("magellan", launches=4, probes=_SOME),
    "infinicloud": _study("infinicloud", launches=4),
    "fleet": _fleet,
    "imported-mpi": _imported("composed/osu.*", "composed/imb.*", "osu.*", "imb.*"),
    "imported-others": _imported("hyperfine.*", "iperf3.*", "nuttcp.*"),
    "first-format": _copied(ROOT / "tests/data/runs-0.1.0/measured"),
    "first-format-planted": _copied(ROOT / "tests/data/runs-0.1.0/planted"),
}  # fmt: skip


def _call(arguments: list[str]) -> tuple[int, str]:
    """Run a command here and give its exit code and all that it prints."""
    from bareline.cli.main import app
    from bareline.vocabulary.errors import BarelineError

    printed, code = io.StringIO(), 0
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            app(args=arguments, standalone_mode=False)
        except BarelineError as error:
            code = error.exit_code
            print(f"bareline: {error}")
        except SystemExit as ended:
            code = int(ended.code or 0)
        except Exception:
            code = -1
            traceback.print_exc()
    return code, printed.getvalue()


def page_text(page: str) -> str:
    """Return what a reader sees of a page: a line for each block, in order."""
    body = _UNREAD.sub("", page)
    lines = _BLOCK.sub("\n", body).replace("</td>", "\t").replace("</th>", "\t")
    plain = (" ".join(unescape(_TAG.sub("", line)).split(" ")) for line in lines.split("\n"))
    return "\n".join(line.strip() for line in plain if line.strip()) + "\n"


def page_tables(page: str) -> dict[str, str]:
    """Return the files that a page carries."""
    found = {}
    for match in _FILE.finditer(page):
        first = match[3] is not None
        kind, data, name = match.group(1, 2, 3) if first else match.group(5, 6, 4)
        content = base64.b64decode(data)
        found[name.removesuffix(".gz")] = (
            gzip.decompress(content) if kind.endswith("gzip") else content
        ).decode()
    return found


def _outputs(run: Path, folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, arguments in COMMANDS.items():
        code, text = _call([arguments[0], run.name, *arguments[1:]])
        (folder / name).write_text(f"{text}exit {code}\n" if code else text)
    for name, arguments in FILES.items():
        path = folder / name
        code, text = _call([arguments[0], run.name, "--out", str(path), *arguments[1:]])
        if code:
            path.write_text(f"{text}exit {code}\n")
    page = folder / "page.html"
    html = page.read_text()
    (folder / "page.txt").write_text(page_text(html))
    for name, text in page_tables(html).items():
        (folder / "page").mkdir(exist_ok=True)
        (folder / "page" / name).write_text(text)


def make(runs: Path, outputs: Path, given: list[Path], only: list[str]) -> None:
    """Write the outputs of every run, which is made if it is not there."""
    runs.mkdir(parents=True, exist_ok=True)
    outputs = outputs.resolve()
    makers = dict(RUNS) | {f"real-{path.name}": _copied(path.resolve()) for path in given}
    kept = {path.name: path for path in sorted(runs.iterdir())}
    os.chdir(runs)
    for name in [*makers, *(name for name in kept if name not in makers)]:
        if only and name not in only:
            continue
        path = Path(name)
        if not path.exists():
            makers[name](path)
        shutil.rmtree(outputs / name, ignore_errors=True)
        _outputs(path, outputs / name)
        print(name, flush=True)


def diff(before: Path, after: Path, *, whole: bool) -> int:
    """Print how the outputs differ, and give how many files do; pages are compared as text."""
    names = {
        file.relative_to(folder)
        for folder in (before, after)
        for file in folder.rglob("*")
        if file.is_file() and file.suffix != ".html"
    }
    different = 0
    for name in sorted(names):
        old, new = (
            (folder / name).read_text().splitlines() if (folder / name).exists() else []
            for folder in (before, after)
        )
        if old == new:
            continue
        different += 1
        lines = list(difflib.unified_diff(old, new, f"before/{name}", f"after/{name}", "", "", 1))
        changed = sum(line[0] in "+-" for line in lines) - 2
        print(f"{name}: {changed} lines differ")
        if whole:
            print(*lines, sep="\n")
    print(f"{different} of {len(names)} files differ")
    return different


def main() -> None:
    """Make outputs or compare two folders of them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    verbs = parser.add_subparsers(required=True, dest="verb")
    maker = verbs.add_parser("make", help="write the outputs of every run")
    maker.add_argument("runs", type=Path)
    maker.add_argument("outputs", type=Path)
    maker.add_argument("given", type=Path, nargs="*", metavar="RUN", help="real runs to add")
    maker.add_argument("--only", action="append", default=[], metavar="NAME")
    differ = verbs.add_parser("diff", help="say which outputs differ; exits with 1 if any does")
    differ.add_argument("before", type=Path)
    differ.add_argument("after", type=Path)
    differ.add_argument("--brief", action="store_true", help="only the names of the files")
    asked = parser.parse_args()
    if asked.verb == "make":
        make(asked.runs, asked.outputs, asked.given, asked.only)
    else:
        sys.exit(bool(diff(asked.before, asked.after, whole=not asked.brief)))


if __name__ == "__main__":
    main()
