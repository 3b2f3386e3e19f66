"""Find programs from Spack, EasyBuild and EESSI on the platforms where the trials run.

A source is a build of a program in one of these package managers. The variables that a source sets
are read once, before a platform's first trial of the program. The program's command then begins
with ``env`` and these variables, so that no trial takes longer, and the environment of the MPI
launcher does not change. Only documented commands of Spack are used (``find --json``, ``location``,
``load --sh``, ``install``).

References
----------
T. Gamblin et al., "The Spack Package Manager: Bringing Order to HPC Software Chaos", SC '15 (2015),
doi:10.1145/2807591.2807623. K. Hoste et al., "EasyBuild: Building Software with Ease", SC Companion
(2012), doi:10.1109/SC.Companion.2012.81. B. Droege et al., "EESSI: A cross-platform ready-to-use
optimised scientific software stack", Software: Practice and Experience 53 (2023),
doi:10.1002/spe.3075.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bareline.platforms.base import Allocation
from bareline.vocabulary.documents import OUTPUT, json_decoder
from bareline.vocabulary.errors import ToolMissing, one_line
from bareline.vocabulary.facts import source_fact
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.sources import LOAD_MODULE, Source
from bareline.vocabulary.units import count, format_duration, listing

#: Time limit of a question, in s: Spack's first use on a network file system takes tens of s.
_FIND_S = 180.0
#: Largest number of builds in a message, if several builds match.
_NAMED = 5
#: Variables that belong to a shell or to the programs that load modules.
_OWN = re.compile(r"_|_.*|SHLVL|PWD|OLDPWD|PS1|BASH_.*|LOADEDMODULES|LMOD_.*|MODULE.*|ENV")
_HASH = re.compile(r"[a-z0-9]{7,64}")
#: How EasyBuild writes characters that the name of a variable cannot have.
_SIGNS = {"+": "PLUS", "-": "MIN", ".": ""}
#: The first word is the action. The script loads a source in its own shell and prints the
#: environment before and after, and the paths of the programs in both.
_SCRIPT = """
fail() { echo "$1" >&2; exit 3; }
has() { type "$1" >/dev/null 2>&1; }
show() { printf '\\nbareline-%s ' "$1"; env -0 | base64 | tr -d '\\n'; echo; }
where() {
    local program
    for program in "${@:2}"; do
        printf '\\nbareline-%s %s %s\\n' "$1" "$program" "$(type -P -- "$program")"
    done
}
look() {
    local path=$PATH
    has "$1" || { . /etc/profile; PATH=$path:$PATH; } >/dev/null 2>&1 </dev/null
    has "$1" || [ -z "$SPACK_ROOT" ] || PATH=$PATH:$SPACK_ROOT/bin
    has "$1" || fail "$2"
}
load_built() {
    look module "there are no environment modules"
    local folder
    for folder in "$EASYBUILD_INSTALLPATH" "$EASYBUILD_PREFIX" "$HOME/.local/easybuild"; do
        [ -n "$folder" ] || continue
        [ ! -d "$folder/modules/all" ] || module use "$folder/modules/all" >&2
        break
    done
    load_module "$1" "$1:" >&2 || fail "the module '$1' cannot be loaded"
    root=${!2}
    [ -z "$root" ] || printf '\\nbareline-prefix %s\\n' "$root"
    for recipe in "$root"/easybuild/*.eb; do
        [ ! -r "$recipe" ] || printf '\\nbareline-recipe %s\\n' "$(sha256sum <"$recipe")"
    done
}
action=$1
shift
case $action in
find | install)
    look spack "there is no Spack on the path, and none in SPACK_ROOT"
    [ "$action" = install ] || set -- --json "$@"
    exec spack "$action" "$@" </dev/null
    ;;
eb)
    look module "there are no environment modules"
    look eb "there is no EasyBuild (eb) on the path"
    exec eb "$@" --robot </dev/null
    ;;
esac
show before
what=$1 root=$2 version=$3
shift 3
where had "$@"
case $action in
spack)
    look spack "there is no Spack on the path, and none in SPACK_ROOT"
    said=$(spack load --sh "$what" </dev/null) && eval "$said" || fail "Spack cannot load it"
    root=$(spack location -i "$what" 2>/dev/null </dev/null | tail -n 1)
    printf '\\nbareline-prefix %s\\n' "$root"
    ;;
eessi)
    stack=${EESSI_CVMFS_REPO_OVERRIDE:-/cvmfs/software.eessi.io}/versions
    [ -n "$version" ] || version=$(ls "$stack" 2>/dev/null | sort -V | tail -n 1)
    [ -r "$stack/$version/init/bash" ] || fail "there is no EESSI in $stack/$version"
    . "$stack/$version/init/bash" >&2 </dev/null
    load_built "$what" "$root"
    ;;
easybuild) load_built "$what" "$root" ;;
esac
show after
where has "$@"
"""
#: Programs that start other programs, and do not come from a source.
_SHELLS = ("sh", "bash")
#: The next step of the user where a source is missing, by the kind of source.
_NEXT = {
    "spack": "see there what `spack find` names; install_s = SECONDS in the study installs",
    "easybuild": "see there what `module avail` names; install_s = SECONDS in the study installs",
    "eessi": "mount EESSI there (CernVM-FS), and see what `module avail` names",
}


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A source on a platform, with its variables.

    - `words`: for each variable that the source changes, the arguments of `env` that set or unset
      the variable.
    - `facts`: the values of `spec`, `hash` and `prefix` of the source, by these names.
    """

    words: Mapping[str, Sequence[str]]
    facts: Mapping[str, Scalar]


class Sources:
    """The sources of a run's programs on its platforms; each source is searched for once.

    - `learn`: stores facts of a platform.
    - `note`: reports an event of a platform, such as an installation.
    """

    def __init__(
        self,
        learn: Callable[[str, Mapping[str, Scalar]], None],
        note: Callable[[str, str], None],
    ) -> None:
        self._learn = learn
        self._note = note
        self._known: dict[Any, tuple[Allocation, LoadedSource | ToolMissing]] = {}

    def furnish(
        self, probe: str, source: Source, spec: PlatformSpec, allocation: Allocation, to: Command
    ) -> Command:
        """Return the command `to` of a probe with the variables of the probe's source.

        A variable that the probe itself sets keeps its value.

        Raises ToolMissing: the source is missing or lacks a program, or several builds match it.
        """
        key = (spec.name, probe, to.requires)
        before = self._known.get(key)
        if before is None or before[0] is not allocation:
            self._known[key] = (allocation, self._look(source, spec, allocation, to))
        loaded = self._known[key][1]
        if isinstance(loaded, ToolMissing):
            raise loaded
        if before is None:
            self._note(spec.name, f"{probe} comes from {source.name}: {loaded.facts['spec']}")
        facts = {source_fact(probe, name): fact for name, fact in loaded.facts.items()}
        self._learn(spec.name, facts)
        platform_variables = {name for name, _ in spec.environment}
        variables = {name for name, _ in to.env} - platform_variables
        words: list[str] = []
        for name, setting in loaded.words.items():
            if name not in variables:
                words += setting
        return replace(to, argv=("env", *words, *to.argv), requires=())

    def _look(
        self, source: Source, spec: PlatformSpec, allocation: Allocation, to: Command
    ) -> LoadedSource | ToolMissing:
        mark = tuple(pair for pair in to.env if pair[0] == TRIAL_VARIABLE)

        def ask(*words: str, timeout_s: float = _FIND_S) -> str:
            argv = ("bash", "-c", LOAD_MODULE + _SCRIPT, "bash", *words)
            command = Command(argv=argv, env=(*spec.environment, *mark), requires=("bash",))
            return _said(allocation.run(command, Layout(), timeout_s=timeout_s), timeout_s)

        def install(*words: str) -> None:
            most = format_duration(source.install_s)
            self._note(spec.name, f"installing {source.name}, for {most} at most")
            ask(*words, timeout_s=source.install_s)

        try:
            return _LOOKS[source.kind](source, ask, install, to.requires)
        except _NotThereError as error:
            hint = error.hint or _NEXT[source.kind]
            missing = ToolMissing(
                f"the source '{source.name}' cannot be used: {error}", where=spec.name, hint=hint
            )
            missing.__cause__ = error  # its code names the problem
            return missing


class _NotThereError(Exception):
    def __init__(self, text: str, hint: str = "") -> None:
        super().__init__(text)
        self.hint = hint


_Ask = Callable[..., str]
_Install = Callable[..., None]


def _said(output: Output, timeout_s: float) -> str:
    if output.timed_out:
        raise _NotThereError(
            f"the package manager does not answer within {format_duration(timeout_s)}"
        )
    if output.exit_code != 0:
        lines = [line.strip() for line in output.stderr.splitlines() if line.strip()]
        # The last line is the script's own; the line before it may be from the tool.
        last = lines[-2:] if output.exit_code == 3 else lines[-1:]
        why = one_line("; ".join(reversed(last))) or f"exit code {output.exit_code}"
        raise _NotThereError(why[:300])
    return output.stdout


def _spack(source: Source, ask: _Ask, install: _Install, programs: Sequence[str]) -> LoadedSource:
    fits = _installed(source, ask)
    if not fits and source.install_s:
        install("install", *source.words)
        fits = _installed(source, ask)
    if not fits:
        raise _NotThereError("no installed build matches it")
    if len(fits) > 1:
        named = [f"{_spec_of(build)} /{build['hash'][:7]}" for build in fits[:_NAMED]]
        more = f" and {len(fits) - _NAMED} more" if len(fits) > _NAMED else ""
        hint = "name one build: add /HASH, or a property that only this build has"
        raise _NotThereError(
            f"{count(len(fits), 'installed build')} match it: {'; '.join(named)}{more}", hint
        )
    (build,) = fits
    answer = ask("spack", f"/{build['hash']}", "", "", *programs)
    return _loaded(source, answer, programs, {"spec": _spec_of(build), "hash": build["hash"]})


def _installed(source: Source, ask: _Ask) -> list[dict[str, Any]]:
    """Return the builds that Spack has installed and that match a source; empty if none does."""
    try:
        text = ask("find", *source.words)
    except _NotThereError as error:
        if "No package matches" in str(error):
            return []
        raise
    for match in re.finditer(r"^\[", text, re.MULTILINE):  # after any warnings
        try:
            builds, _ = json_decoder(OUTPUT).raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if all(_has_hash(build) for build in builds):
            return list(builds)
    raise _NotThereError("the output of `spack find --json` is not a list of builds")


def _has_hash(build: object) -> bool:
    """Whether a value describes a build of Spack and contains the hash that loads the build."""
    if not isinstance(build, dict):
        return False
    text = build.get("hash")
    return isinstance(text, str) and _HASH.fullmatch(text) is not None


def _spec_of(build: Mapping[str, Any]) -> str:
    """Format a build as Spack does: name, version, compiler, variants, target."""
    parts = [f"{build.get('name', '')}@{build.get('version', '')}"]
    compiler = build.get("compiler")
    if isinstance(compiler, dict):
        parts.append(f"%{compiler.get('name', '')}@{compiler.get('version', '')}")
    variants = build.get("parameters")
    if isinstance(variants, dict):
        parts += [_variant_words(name, value) for name, value in sorted(variants.items())]
    architecture = build.get("arch")
    target = architecture.get("target") if isinstance(architecture, dict) else None
    if isinstance(target, dict):
        target = target.get("name")
    if target:
        parts.append(f"target={target}")
    return one_line(" ".join(filter(None, parts)))[:400]


def _variant_words(name: str, value: object) -> str:
    """Format a variant of a build as Spack does; "" for a variant without a value."""
    if isinstance(value, bool):
        sign = "+" if value else "~"
        return f"{sign}{name}"
    if value in ([], "", None):
        return ""
    if isinstance(value, list):
        return f"{name}={','.join(map(str, value))}"
    return f"{name}={value}"


def _module(source: Source, ask: _Ask, install: _Install, programs: Sequence[str]) -> LoadedSource:
    module, _, version = source.words[0].partition("@")
    name = module.partition("/")[0]
    root = "EBROOT" + "".join(_SIGNS.get(letter, letter) for letter in name).upper()
    words = (source.kind, module, root, version, *programs)
    try:
        answer = ask(*words)
    except _NotThereError:
        if not source.install_s:
            raise
        install("eb", f"{module.replace('/', '-')}.eb")
        answer = ask(*words)
    return _loaded(source, answer, programs, {"spec": module})


_LOOKS = {"spack": _spack, "easybuild": _module, "eessi": _module}


def _loaded(
    source: Source, answer: str, programs: Sequence[str], facts: Mapping[str, Scalar]
) -> LoadedSource:
    answers: dict[str, list[str]] = {}
    for key, text in re.findall(r"^bareline-([a-z]+) (.*)$", answer, re.MULTILINE):
        answers.setdefault(key, []).append(text.strip())
    try:
        before = _environment(answers["before"][-1])
        after = _environment(answers["after"][-1])
    except (KeyError, ValueError) as error:
        raise _NotThereError(
            "the environment of the loaded build did not arrive completely"
        ) from error
    prefix = answers.get("prefix", [""])[-1]
    _see_programs(answers, prefix, programs)
    facts = dict(facts)
    if (stack := after.get("EESSI_VERSION")) and source.kind == "eessi":
        facts["spec"] = f"{facts['spec']} (EESSI {stack} {after.get('EESSI_SOFTWARE_SUBDIR', '')})"
    if recipes := answers.get("recipe"):
        facts["hash"] = recipes[0][:16]  # enough to distinguish two files
    if prefix:
        facts["prefix"] = prefix
    return LoadedSource(_changes(before, after), facts)


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
    """Return the arguments of `env` for each variable that differs.

    Options come first, because `env` requires this. Variables of bash, and values of several lines,
    are left out.
    """
    removed: dict[str, Sequence[str]] = {}
    changed: dict[str, Sequence[str]] = {}
    for name in sorted({*before, *after}):
        text = after.get(name)
        if before.get(name) == text or _OWN.fullmatch(name) or not name.isidentifier():
            continue
        if text is None:
            removed[name] = ("-u", name)
        elif "\n" not in text:
            changed[name] = (f"{name}={text}",)
    return removed | changed


def _see_programs(answers: Mapping[str, list[str]], prefix: str, programs: Sequence[str]) -> None:
    """Refuse a source if a program is missing, or if no program comes from this source."""
    had, has = (
        dict(line.split(" ", 1) for line in answers.get(key, ()) if " " in line)
        for key in ("had", "has")
    )
    again = "write the program's name in this build, or name the build that has the program"
    if lacking := [name for name in programs if name not in has]:
        raise _NotThereError(
            f"the build does not contain {listing([repr(program) for program in lacking])}", again
        )
    brought = [
        name
        for name in programs
        if had.get(name) != has[name] or (prefix and has[name].startswith(f"{prefix}/"))
    ]
    wanted = [name for name in programs if name not in _SHELLS]
    if wanted and not brought:
        others = listing([f"'{name}' is {has[name]}" for name in wanted])
        raise _NotThereError(
            f"the programs that would run are not from this variant: {others}", again
        )


def _environment(text: str) -> dict[str, str]:
    variables = {}
    for line in base64.b64decode(text, validate=True).decode(errors="replace").split("\0"):
        name, _, value = line.partition("=")
        if name:
            variables[name] = value
    return variables
