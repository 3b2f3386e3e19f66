"""The verb new, which writes a package for a user's plug-in from the sample package.

The sample package (``tests/outside/sample``) has a plug-in of each kind, and the contract tests
check it. A new package is a copy of the files of one kind with another name, so that no separate
template has to be tested.
"""

from __future__ import annotations

import keyword
import re
import shlex
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from bareline.cli.output import console, emit, written
from bareline.cli.verbs import argument, option, prints
from bareline.vocabulary.errors import UsageError, did_you_mean
from bareline.vocabulary.files import replace_file

app = typer.Typer()

_PACKAGE = "bareline_outside"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,40}")
#: The entry points in the sample's pyproject.toml; a new package keeps those of its kind.
_ENTRIES = re.compile(r'\[project\.entry-points\."bareline\.(\w+)"\]\n.*\n\n')
_DESCRIPTION = re.compile(r'(?m)^description = ".*"$')


@dataclass(frozen=True, slots=True)
class PluginKind:
    """A kind of plug-in, and its names in the sample.

    - `stem`: name of the sample's plug-in; the names of its files and classes contain it.
    - `group`: entry-point group of the kind, ``bareline.GROUP``.
    - `noun`: noun for the kind, with the article.
    - `swaps`: words in the plug-in's files that refer to plug-ins of other kinds, and their
      replacements.
    """

    stem: str
    group: str
    noun: str
    swaps: tuple[tuple[str, str], ...] = ()


KINDS = {
    "probe": PluginKind("interpreter", "probes", "A probe"),
    "platform": PluginKind("niced", "platforms", "A platform type"),
    "importer": PluginKind("timings", "importers", "An importer"),
    "exhibit": PluginKind("tally", "exhibits", "A kind of exhibit"),
    "cause": PluginKind("timekeeper", "causes", "A cause of losses"),
    "study": PluginKind(
        "outside",
        "studies",
        "A study",
        (
            ("How fast Python turns", "How fast matrices are multiplied"),
            (", with its own probe and exhibit", ""),
            ("compute.interpreter", "compute.dgemm"),
            ("params = { turns = 20000 }\n", ""),
            ('"tally"', '"bars"'),
        ),
    ),
}


@app.command()
@prints("new", "cli.output.Written")
def new(
    kind: Annotated[
        str,
        argument(
            "KIND",
            "Kind of plug-in: probe, platform, importer, exhibit, cause or study.",
            autocompletion=lambda incomplete: [k for k in KINDS if k.startswith(incomplete)],
        ),
    ],
    name: Annotated[str, argument("NAME", "Name of the plug-in.")],
    out: Annotated[
        Path | None, option("-o --out", "DIR", "Folder to make (default: bareline-NAME).")
    ] = None,
) -> None:
    """Write a package with a plug-in of your own and its test."""
    from bareline.report.writers.console import print_next

    made = write_package(kind, name, out)
    emit(lambda: list(map(written, made)), lambda _: print(*made, sep="\n"))
    folder = shlex.quote(str(made[0].parent))
    commands = [f"pip install -e {folder} pytest", f"python -m pytest {folder}"]
    print_next(commands, console(stderr=True))


def write_package(kind: str, name: str, folder: Path | None = None) -> list[Path]:
    """Write a package with one plug-in that passes its contract, and return the files.

    - `name`: the plug-in's name.
    - `folder`: folder to make; by default ``bareline-NAME`` in the current folder.

    The first returned file is the folder's ``pyproject.toml``.

    Raises UsageError: there is no such kind, the name is not valid, or the folder exists.
    """
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS, f"the kinds are: {', '.join(KINDS)}")
        raise UsageError(f"'{kind}' is not a kind of plug-in", hint=hint)
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UsageError(
            f"'{name}' is not a valid name for a plug-in",
            hint="use lower-case letters, digits and '_', a letter first",
        )
    folder = folder or Path(f"bareline-{name.replace('_', '-')}")
    if folder.exists():
        raise UsageError(f"the folder {folder} already exists", hint="name another folder with -o")
    making = folder.with_name(f".{folder.name}.part")  # the remains of a kill are not a package
    shutil.rmtree(making, ignore_errors=True)
    written = []
    try:
        making.mkdir(parents=True)  # its own: a link of that name is refused
        for path, text in _files(KINDS[kind], name):
            target = making / path
            target.parent.mkdir(parents=True, exist_ok=True)
            replace_file(target, text, durable=False)
            written.append(folder / path)
        making.rename(folder)
    except OSError as error:
        shutil.rmtree(making, ignore_errors=True)
        why = f"the folder cannot be written: {error.strerror}"
        raise UsageError(why, where=str(folder), hint="name another folder with -o") from error
    return written


def _files(kind: PluginKind, name: str) -> Iterator[tuple[str, str]]:
    def entries_of_kind(block: re.Match[str]) -> str:
        return block[0] if block[1] == kind.group else ""

    sample = _sample()
    project = (sample / "pyproject.toml").read_text(encoding="utf-8")
    project = _ENTRIES.sub(entries_of_kind, project)
    project = _DESCRIPTION.sub(f'description = "{kind.noun} for bareline"', project)
    yield "pyproject.toml", _renamed(project, kind, name)
    first = f"src/{_PACKAGE}/__init__.py"
    yield _renamed(first, kind, name), f'"""{kind.noun} for bareline."""\n'
    for path in sorted(path for path in sample.rglob("*") if path.is_file()):
        if kind.group == path.parent.name or path.stem.removeprefix("test_") == kind.stem:
            text = path.read_text(encoding="utf-8")
            for old, new in kind.swaps:
                text = text.replace(old, new)
            inside = str(path.relative_to(sample))
            yield _renamed(inside, kind, name), _renamed(text, kind, name)


def _renamed(text: str, kind: PluginKind, name: str) -> str:
    words = name.split("_")
    text = text.replace(_PACKAGE, f"bareline_{name}")
    text = text.replace(_PACKAGE.replace("_", "-"), f"bareline-{'-'.join(words)}")
    text = re.sub(rf"(?<![a-zA-Z]){kind.stem}(?![a-z])", name, text)
    return text.replace(kind.stem.capitalize(), "".join(map(str.capitalize, words)))


def _sample() -> Path:
    here = Path(__file__).resolve().parents[1]
    for folder in (here / "_sample", here.parents[1] / "tests" / "outside" / "sample"):
        if (folder / "pyproject.toml").is_file():
            return folder
    raise UsageError(
        "this installation lacks the sample of a plug-in",
        hint="install bareline again from its wheel",
    )
