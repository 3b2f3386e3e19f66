"""Platforms from system definitions of Benchpark and Ramble, with a list of ignored parts.

The input is a folder with ``variables.yaml``, as ``benchpark system init`` writes it, a folder of
such folders, a single such file (or Ramble's ``ramble.yaml``), or a ``system.py``. The latter is a
program that is not run; only the literal values that its class assigns are used.

References
----------
O. Pearce et al., "Towards Collaborative Continuous Benchmarking for HPC", SC-W 2023,
doi:10.1145/3624062.3624135.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from bareline.platforms.site import LAUNCHERS, SLURM, SitePlatforms, options, read_site_file
from bareline.vocabulary.documents import YAML, DocumentError, parse_yaml
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.sanitize import cleaned

_MOST_SYSTEMS = 1000
_HOW = "give a variables.yaml, a ramble.yaml, a system.py, or a folder that has one"
#: Benchpark's words for what an experiment sets later, and its number for it.
_PLACEHOLDERS = ("placeholder", "1000001", "18446744073709551615", "", "none")
_KEYS = {
    "queue": "partition",
    "batch_queue": "partition",
    "bank": "account",
    "batch_bank": "account",
    "constraint": "constraint",
    "reservation": "reservation",
}
#: Variables without a key in platform files, which runs do not need.
_SILENT = ("max_request", "n_ranks", "batch_submit", "system_site", "hardware_key")
_TYPES = {"slurm": "slurm", "mpi": "local", "flux": "job", "lsf": "job", "pbs": "job"}
#: Further files of a system, and their content.
_BESIDE = {
    "software.yaml": "compilers and libraries",
    "compilers.yaml": "compilers",
    "packages.yaml": "packages",
    "auxiliary_software_files/compilers.yaml": "compilers",
    "auxiliary_software_files/packages.yaml": "packages",
    "spack.yaml": "compilers and libraries",
}
#: No number of a system is larger.
_MOST_BITS = 64
_NOT_LITERAL = "computed by the program"


def read_site(place: Path) -> SitePlatforms:
    """Return the platforms of a file or folder.

    Raises PlatformError: the file or folder contains no platforms.
    """
    site = SitePlatforms()
    files = _files(place)
    for file in files:
        try:
            systems = list(_systems(file))
        except PlatformError as error:
            if len(files) == 1:
                raise
            site.leave_out(_title_of(file), str(error))
            continue
        for title, variables, notes in systems:
            site.add(title, [*notes, *_beside(file)], partial(_table, title, variables))
    return site


def _title_of(file: Path) -> str:
    return cleaned(file.resolve().parent.name)


def _files(place: Path) -> list[Path]:
    if not place.is_dir():
        return [place]
    wanted = ("variables.yaml", "ramble.yaml", "system.py", "configs/ramble.yaml")
    for folders in ([place], sorted(one for one in place.iterdir() if one.is_dir())):
        own = [
            next((one / name for name in wanted if (one / name).is_file()), None)
            for one in folders[:_MOST_SYSTEMS]
        ]
        if found := [file for file in own if file is not None]:
            return found
    why = "has no variables.yaml, ramble.yaml or system.py, nor has a folder in it"
    raise PlatformError(why, where=str(place), hint=_HOW)


def _systems(file: Path) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Yield the systems of a file: the name, the variables, and the ignored parts of each."""
    data = read_site_file(file, YAML.size_bytes, _HOW)
    if file.suffix == ".py":
        yield from _of_program(data, file)
        return
    content = _yaml(data, file)
    while isinstance(content, dict) and len(content) == 1 and "variables" not in content:
        (content,) = content.values()  # ramble: config: variables
    variables = content.get("variables") if isinstance(content, dict) else None
    if not isinstance(variables, dict):
        raise PlatformError("has no table `variables`", where=str(file), hint=_HOW)
    others = [str(key) for key in content if key != "variables"]
    notes = [f"'{name}' is not taken over" for name in others]
    yield _title_of(file), variables, notes


def _yaml(text: bytes, file: Path) -> Any:
    """Return the content of a YAML file.

    Raises PlatformError: the file is damaged, or PyYAML is not installed.
    """
    try:
        return parse_yaml(text)
    except ImportError as error:
        hint = "install bareline-contrib with its extra: 'bareline-contrib[benchpark]'"
        raise PlatformError("needs PyYAML", where=str(file), hint=hint) from error
    except DocumentError as error:
        raise PlatformError(f"no YAML: {error}", where=str(file), hint=_HOW) from error


def _of_program(data: bytes, file: Path) -> Iterator[tuple[str, Mapping[str, Any], list[str]]]:
    """Yield the literal values of a system.py, for each of its clusters or instances."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PlatformError(f"no Python: {error}", where=str(file), hint=_HOW) from error
    common: dict[str, Any] = {}
    each: dict[str, dict[str, Any]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        if isinstance(target, ast.Name) and target.id == "id_to_resources":
            found = _literal(node.value)
            each = {
                str(key): dict(own)
                for key, own in (found.items() if isinstance(found, dict) else ())
                if isinstance(own, dict)
            }
        elif isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
            known = common.get(target.attr, _literal(node.value))
            # What is assigned twice depends on what the program is told.
            common[target.attr] = known if known == _literal(node.value) else _NOT_LITERAL
    if "scheduler" not in common and not each:
        why = "assigns neither `self.scheduler` nor `id_to_resources`"
        raise PlatformError(why, where=str(file), hint=_HOW)
    name = _title_of(file)
    for key, own in (each or {"": {}}).items():
        variables = {**common, **own}
        queues = variables.pop("queues", None)
        notes = [f"its queues are {queues}: set `partition`"] if queues else []
        computed = sorted(one for one, value in variables.items() if value == _NOT_LITERAL)
        notes += [
            f"'{one}' is {_NOT_LITERAL}, which is not run" for one in computed if one not in _SILENT
        ]
        rest = {one: value for one, value in variables.items() if one not in computed}
        yield f"{name}:{key}" if key else name, rest, notes


def _literal(node: ast.expr) -> Any:
    """Return a literal value; parts that are not literal are named in it.

    The call of a queue becomes the queue's name.
    """
    if isinstance(node, ast.Dict):
        keys = [_literal(key) if key else _NOT_LITERAL for key in node.keys]
        return {str(key): _literal(one) for key, one in zip(keys, node.values, strict=True)}
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(one) for one in node.elts]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "JobQueue" and node.args:
        return " ".join(str(_literal(one)) for one in node.args)
    if not isinstance(node, ast.Constant):
        return _NOT_LITERAL
    if isinstance(node.value, int) and node.value.bit_length() > _MOST_BITS:
        return _NOT_LITERAL
    return cleaned(node.value) if isinstance(node.value, str) else node.value


def _beside(file: Path) -> list[str]:
    there = [name for name in _BESIDE if (file.parent / name).is_file()]
    return [
        f"{name} is not taken over ({_BESIDE[name]}): load them with `software`, or name "
        "programs by `from` in the study"
        for name in there
    ]


def _table(title: str, variables: Mapping[str, Any], notes: list[str]) -> dict[str, Any] | None:
    """Return the platform table of a system; None if it has no usable part."""
    texts = {str(key): _word(value) for key, value in variables.items()}
    scheduler = texts.pop("scheduler", "") or ""
    if scheduler not in _TYPES:
        notes.append(f"no type of platform for the scheduler '{scheduler[:60]}'")
        return None
    table: dict[str, Any] = {"title": title, "type": _TYPES[scheduler]}
    if table["type"] == "job":
        notes.append(f"for its jobs: bareline submit --with {scheduler}")
    elif table["type"] == "local":
        notes.append("this is the machine that bareline runs on")
    _take(table, texts, notes)
    if table["type"] != "local" and "nodes" not in table:
        notes.append("the number of nodes is bareline's default: set `nodes`")
    return table


def _take(table: dict[str, Any], texts: Mapping[str, str | None], notes: list[str]) -> None:
    """Copy each variable that a platform of this type has a key for; note the other variables."""
    slurm = table["type"] == "slurm"
    numbers = {"sys_cores_per_node": "cores_per_node", "n_nodes": "nodes"}
    if slurm:
        numbers["timeout"] = "time_min"
    for key, text in texts.items():
        if text is None:
            notes.append(f"'{key}' is not taken over")
        elif text.lower() in _PLACEHOLDERS or key in _SILENT:
            continue
        elif key in numbers and table["type"] != "local" and re.fullmatch(r"[1-9]\d{0,8}", text):
            table[numbers[key]] = int(text)
        elif slurm and key in _KEYS:
            table[_KEYS[key]] = text
        elif slurm and key == "mpi_command" and _launcher_of(text):
            table["launcher"] = _launcher_of(text)
            words = text.split()[1:]
            notes += [f"of '{key}' {' '.join(words)} is not taken over"] if words else []
        elif slurm and key == "batch_directives":
            for option, value in options([text.replace("#SBATCH", "")]):
                if option in SLURM and value and "{" not in value:
                    table[SLURM[option]] = value
                else:
                    notes.append(f"the option '{option} {value}' is not taken over")
        else:
            notes.append(f"'{key}' = {text[:60]} is not taken over")


def _launcher_of(command: str) -> str | None:
    """Return the platform's name for the launcher at the start of a command; None if unknown."""
    words = command.split()
    return LAUNCHERS.get(words[0]) if words else None


def _word(value: Any) -> str | None:
    """Return a value as a text; a list of texts is joined, and a table is None."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    return None if isinstance(value, dict | list) else "" if value is None else str(value).strip()
