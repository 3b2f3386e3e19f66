"""The commands that pages let a reader type: they run as printed, and name what there is.

`make docs-check` also runs those that take minutes, through a real shell.
"""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

import pytest
import typer.main

from bareline.cli.main import _with_values, app, main
from bareline.platforms.base import availability_of
from bareline.platforms.config import choose_platforms, load_platforms
from bareline.study.catalogue import named_studies

#: Exit codes of a condition: not met, met, undecided. The machine's noise chooses one.
GATED = {0, 1, 4}
ROOT = Path(__file__).parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "tutorial.py"))
PAGES = {
    str(page.relative_to(ROOT)): page.read_text(encoding="utf-8")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.name != "messages.md"  # its commands have placeholders
}
TYPED = {name: list(SCRIPT["typed"](text)) for name, text in PAGES.items()}
TYPED = {name: commands for name, commands in TYPED.items() if commands}
CHECK = "BARELINE_DOCS_CHECK" in os.environ
KEPT = SCRIPT["archive_of"](ROOT / "docs" / "tutorial" / "first-comparison.md")
#: What a shell is needed for: variables, pipes, several commands.
_SHELL = re.compile(r"[|;&$]|^(?!bareline |[A-Z_]+=\S+ (?:[A-Z_]+=\S+ )?bareline )")
_PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv) {
    double mine = 1, sum;
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 100; ++step)
        MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return MPI_Finalize();
}
"""


def kept(*names):
    """Give what unpacks the run of the first tutorial under other names."""

    def make(folder):
        for name in names:
            with tarfile.open(KEPT) as packed:
                filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
                packed.extractall(folder, **filters)  # Python 3.11.2 has no filters
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / "demo").rename(folder / name)

    return make


def text(name):
    """Give what writes an input file of an application."""

    def make(folder):
        (folder / name).parent.mkdir()
        (folder / name).write_text("steps {steps}\n")

    return make


def program(folder):
    """Put an MPI program there."""
    if shutil.which("mpicc") is None:
        pytest.skip("no mpicc here")
    (folder / "app.c").write_text(_PROGRAM)
    subprocess.run(["mpicc", "-o", "app", "app.c"], cwd=folder, check=True)


def outputs(folder):
    """Put the outputs of other benchmarks there."""
    shutil.copytree(ROOT / "tests/formats/data/ib-vs-roce", folder, dirs_exist_ok=True)


def profile(folder):
    """Put the profile of a program there."""
    shutil.copy(ROOT / "tests/profile/data/planted.profile", folder / "app.profile")


#: What a reader of a page has at hand, and what its commands measured, where they take minutes.
THERE = {
    "README.md": [program, kept("runs/quick-20261123-090000")],
    "docs/tutorial/first-comparison.md": [kept("demo")],
    "docs/how-to/applications.md": [text("case/data")],
    "docs/how-to/continuous-integration.md": [
        kept("today", "reference", *(f"runs/quick-2026111{day}-090000" for day in range(2)))
    ],
    "docs/how-to/cannot-tell.md": [kept("runs/demo-20261123-090000")],
    "docs/how-to/import.md": [outputs],
    "docs/how-to/profile.md": [profile],
    "docs/how-to/read-the-page.md": [kept("runs/demo-20261123-090000")],
    "docs/how-to/repeat-a-study.md": [kept("runs/nebula-20261123-090000")],
    "docs/how-to/results-elsewhere.md": [kept("runs/quick-20261123-090000")],
}
#: Pages whose commands measure.
MEASURING = {"README.md"}
MEASURES = [pytest.mark.mpi, pytest.mark.netns, pytest.mark.slow]


def marks_of(page):
    """Return the marks of a page's commands: what they need that `make test` does not install."""
    if page in MEASURING:
        return MEASURES
    if any("-simulated" in typed.command for typed in TYPED[page]):
        return [pytest.mark.sim]  # without SimGrid no platform of the study can be planned
    return []


def known_platforms():
    """Name the platforms that are built in, that pages show, and that commands make."""
    names = set(load_platforms(None))
    for text in PAGES.values():
        for block in re.findall(r"^ *```toml\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
            try:
                names |= set(tomllib.loads(block).get("platform", {}))
            except tomllib.TOMLDecodeError:
                continue
        names |= set(re.findall(r"bareline import .*?--platform (\S+)", text))
        names |= {Path(file).stem for file in re.findall(r"calibrate .*?-o (\S+\.toml)", text)}
        if "--build-a" in text:
            names |= {"a", "b"}
    return names


PLATFORMS = known_platforms()


def words(command):
    """Give the words of a command without what a shell does with them, and the redirected file."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=">")
    lexer.commenters, lexer.whitespace_split = "#", True
    found = list(lexer)
    target = None
    if ">" in found:
        at = found.index(">")
        target = found[at + 1]
        del found[at : at + 2]
    settings = {}
    while re.match(r"[A-Z_]+=", found[0]):
        name, _, settings[name] = found.pop(0).partition("=")
    return found, target, {name: value for name, value in settings.items() if name}


def arguments_of(command):
    """Yield the arguments of each call of bareline in what a shell runs."""
    for part in re.split(r"\s*(?:&&|\|\||[|;]|\bdo\b)\s*|\n", command.replace("\\\n", " ")):
        if re.match(r"([A-Z_]+=\S* )*bareline ", part):
            yield words(part)[0][1:]


def parsed(arguments):
    """Let the real parser read a command line; give the verb and what it was given."""
    command = typer.main.get_command(app)
    context = command.make_context("bareline", _with_values(arguments))
    while hasattr(command, "commands"):
        rest = [*context._protected_args, *context.args]
        name, inner, rest = command.resolve_command(context, rest)
        if inner.no_args_is_help and not rest:
            break
        command, context = inner, inner.make_context(name, rest, parent=context)
        if not (hasattr(command, "commands") and context._protected_args):
            break
    return command.name, context.params


def wrong_in(arguments):
    """Report what the parser refuses of a command line, or what it names that is nowhere."""
    try:
        verb, given = parsed(arguments)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        return {error.format_message()}
    named = [role.partition("=")[2] for role in given.get("as_") or []]
    if verb in {"import", "calibrate"}:
        named += given.get("on") or []
    else:
        for key in ("on", "to", "base", "baseline", "platform"):
            value = given.get(key) or []
            named += [value] if isinstance(value, str) else value
    wrong = {name.partition("@")[0] for name in named if name} - PLATFORMS
    study = given.get("study")
    if isinstance(study, str) and not study.endswith(".toml") and "$" not in study:
        wrong |= {study} - set(named_studies())
    return wrong


@pytest.mark.parametrize("page", TYPED)
def test_commands_name_what_there_is(page, monkeypatch):
    monkeypatch.setattr("bareline.store.naming.find_run", Path)
    shown = [step.command for step in SCRIPT["steps"](PAGES[page])]
    for command in [*(typed.command for typed in TYPED[page]), *shown]:
        for arguments in arguments_of(command):
            assert wrong_in(arguments) == set(), command


@pytest.mark.parametrize("wrong", [
    "bareline run quick --onn bare", "bareline run quick --on bear", "bareline rum quick",
    "bareline run quik --on bare", "bareline compare", "bareline run quick --launches many",
    "cd x; bareline run nebula --as bare=no-such | tail", "bareline platforms shw bare",
])  # fmt: skip
def test_a_misspelt_command_is_noticed(wrong):
    assert any(wrong_in(arguments) for arguments in arguments_of(wrong))


def options_of(command, name=""):
    """Give the options of every verb by its name."""
    found = {
        name: {
            option for param in command.params for option in (*param.opts, *param.secondary_opts)
        }
    }
    for own, inner in getattr(command, "commands", {}).items():
        found |= options_of(inner, f"{name} {own}".strip())
    return found


def test_verbs_and_options_in_running_text_exist():
    options = options_of(typer.main.get_command(app))
    wrong = []
    for page, text in PAGES.items():
        for said in re.findall(r"`bareline ([a-z][^`\n]*)`", text):
            line = said.partition(" -- ")[0]
            verb = next(
                (v for v in (" ".join(line.split()[:2]), line.split()[0]) if v in options), None
            )
            named = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", line))
            if verb is None or not named <= {*options[verb], "-h", "--help"}:
                wrong.append((page, said))
    assert wrong == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to a folder for what a page's commands write."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def furnish(page, folder):
    """Put there what the page shows, and what its reader has."""
    for name, text in SCRIPT["files_of"](PAGES[page]).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for make in THERE.get(page, []):
        make(folder)


def own_platforms():
    """Give the platform file of the current folder, if it has one."""
    path = Path("platforms.toml")
    return path if path.exists() else None


def planned(command):
    """Tell whether a run that takes minutes can be planned: its study and platforms are there."""
    arguments = words(command)[0][1:]
    _, given = parsed(arguments)
    here = load_platforms(own_platforms())
    study = given["study"]
    return (
        not given.get("build_a")
        and (not study.endswith(".toml") or Path(study).exists())
        and all(name in here for name in given["on"] or [])
    )


@pytest.mark.skipif(CHECK, reason="the real shell runs them")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=marks_of(page)) for page in TYPED],
)
def test_commands_run_as_printed(page, folder, monkeypatch, capfd):
    furnish(page, folder)
    for typed in TYPED[page]:
        command = typed.command
        if command.startswith("make "):
            target = command.split()[1]
            assert f"\n{target}:" in (ROOT / "Makefile").read_text()
        elif typed.mark and command.startswith("bareline run ") and planned(command):
            call(f"{command.partition('#')[0]} --dry-run", monkeypatch, capfd)
        elif not typed.mark:
            see_to_platforms(command)
            call(command, monkeypatch, capfd)


def see_to_platforms(command):
    """Skip where a platform of a run cannot be used here."""
    if not command.startswith("bareline run ") or "--dry-run" in command:
        return
    given = parsed(words(command)[0][1:])[1]
    for spec in choose_platforms(given["on"], own_platforms()):
        available = availability_of(spec)
        if not available.ok:
            pytest.skip(f"{spec.name}: {available.reason}")


def call(command, monkeypatch, capfd):
    """Run a command, in this process where it is one of bareline alone."""
    if command.startswith(". .venv/bin/activate"):
        return
    assert not _SHELL.search(command), f"mark it, or write it without a shell: {command}"
    argv, target, settings = words(command)
    argv = [
        name for word in argv for name in (map(str, Path().glob(word)) if "*" in word else [word])
    ]
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "argv", argv)
    capfd.readouterr()
    with pytest.raises(SystemExit) as ended:
        main()
    done = capfd.readouterr()
    # A condition that is met is an answer, too.
    allowed = GATED if "--fail-if" in argv else {0}
    assert ended.value.code in allowed, f"{command}\n{done.out}{done.err}"
    if target:
        Path(target).write_text(done.out)


@pytest.mark.skipif(not CHECK, reason="minutes: `make docs-check`")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", TYPED)
def test_all_commands_run_in_a_shell(page, folder):
    furnish(page, folder)
    environment = {**SCRIPT["environment_for"](folder), "PYTHONPATH": str(ROOT / "src")}
    for typed in TYPED[page]:
        if typed.mark == "elsewhere" or typed.command.startswith(("make ", ". .venv")):
            continue
        done = subprocess.run(
            ["bash", "-c", typed.command],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        allowed = GATED if "--fail-if" in typed.command else {0}
        assert done.returncode in allowed, f"{typed.command}\n{done.stdout}{done.stderr}"
