"""A site's ReFrame configuration as platforms: one for each partition with an environment.

Read is JSON: a configuration that is written so, or what ``reframe --show-config`` prints of one
in Python, which is a program and is not run here. The names are those that imported results of
ReFrame get, so that both meet.

References
----------
ReFrame's manual, "Configuration Reference", https://reframe-hpc.readthedocs.io.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from bareline.platforms.config import make_spec
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import NotRegular, read_bounded, step_to_read
from bareline.vocabulary.invalid import problem_of
from bareline.vocabulary.platform import platform_name
from bareline.vocabulary.texts import cleaned

_LARGEST_BYTES = 16 << 20
_HOW = "print it with `reframe -C FILE --system=SYSTEM:PARTITION --show-config` and give that"
#: Options of Slurm that platforms have of their own, by how ``access`` may spell them.
SLURM = {
    "-p": "partition",
    "-A": "account",
    "-q": "qos",
    "-C": "constraint",
    "--partition": "partition",
    "--account": "account",
    "--qos": "qos",
    "--constraint": "constraint",
    "--reservation": "reservation",
}
LAUNCHERS = {"srun": "srun", "mpirun": "mpirun", "mpiexec": "mpirun"}
_TIME = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Processor(_Part):
    num_cpus: Annotated[int, Field(ge=1)] | None = None
    num_cpus_per_core: Annotated[int, Field(ge=1)] | None = None


class _Environment(_Part):
    """Modules and variables; the latter were called otherwise until ReFrame 4."""

    name: str = ""
    modules: list[str | dict[str, Any]] = Field(default_factory=list)
    env_vars: list[tuple[str, Any]] = Field(default_factory=list)
    variables: list[tuple[str, Any]] = Field(default_factory=list)
    prepare_cmds: list[str] = Field(default_factory=list)


class _Partition(_Environment):
    name: str
    descr: str = ""
    scheduler: str
    launcher: str
    access: list[str] = Field(default_factory=list)
    environs: list[str] = Field(default_factory=list)
    processor: _Processor = _Processor()
    time_limit: str | None = None


class _System(_Part):
    name: str
    partitions: list[_Partition]


class _Config(_Part):
    systems: Annotated[list[_System], Field(min_length=1)]
    environments: list[_Environment] = Field(default_factory=list)


class FromReframe(TypedDict):
    """``platforms from-...``: tables of a platform file, and what they leave out."""

    platform: dict[str, dict[str, Any]]
    notes: dict[str, list[str]]


@dataclass(slots=True)
class SitePlatforms:
    """The platforms of a site.

    - `tables`: the table of each platform by its name, as a platform file has it.
    - `notes`: what of a platform could not be taken over, by its name; a platform without a table
      could not be taken over at all.
    """

    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    notes: dict[str, list[str]] = field(default_factory=dict)

    def toml(self) -> str:
        """Write the platform file, with the notes as comments."""
        import tomli_w

        parts = []
        for name, notes in self.notes.items():
            comments = [cleaned(" ".join(f"# {note}".split())) + "\n" for note in notes]
            if name in self.tables:
                comments.append(tomli_w.dumps({"platform": {name: self.tables[name]}}))
            else:
                comments.insert(0, f"# {name} is left out:\n")
            parts.append("".join(comments))
        return "\n".join(parts)


def read_site(file: Path) -> SitePlatforms:
    """Read the platforms of a ReFrame configuration."""
    try:
        content = json.loads(read_bounded(file, _LARGEST_BYTES))
        config = _Config.model_validate(content)
    except NotRegular as error:
        raise PlatformError(f"{error.strerror}", where=str(file), hint=_HOW) from error
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
        raise PlatformError(why, where=str(file), hint=step_to_read(error, _HOW)) from error
    except ValidationError as error:
        problem = problem_of(error)
        why = f"no configuration of ReFrame: '{problem.key}': {problem.said}"
        raise PlatformError(why, where=str(file), hint=_HOW) from error
    except (ValueError, RecursionError) as error:
        why = f"no JSON: {error}"
        raise PlatformError(why, where=str(file), hint=f"a file in Python: {_HOW}") from error
    site = SitePlatforms()
    known = {one.name: one for one in config.environments}
    for system in config.systems:
        for partition in system.partitions:
            for environ in partition.environs or [""]:
                _add(site, system.name, partition, known.get(environ), environ)
    return site


def _add(
    site: SitePlatforms,
    system: str,
    partition: _Partition,
    environment: _Environment | None,
    environ: str,
) -> None:
    """Add the platform of a partition with one of its environments."""
    title = f"{system}:{partition.name}" + (f"+{environ}" if environ else "")
    name = platform_name(title)
    notes = site.notes.setdefault(name, [])
    if name in site.tables:
        notes.append(f"{title} would have the same name and is left out")
        return
    if environ and environment is None:
        notes.append(
            f"the environment '{environ}' is not in this file: if ReFrame printed it, ask with "
            f"--system={system}:{partition.name}"
        )
    reader = _READERS.get(partition.scheduler)
    if reader is None:
        notes.append(f"no type of platform for the scheduler '{partition.scheduler}'")
        return
    table: dict[str, Any] = {"title": f"{title}{f', {partition.descr}' * bool(partition.descr)}"}
    table |= reader(partition, notes)
    table |= _surroundings([partition, *([environment] if environment else [])], table, notes)
    cores = partition.processor
    if cores.num_cpus and table["type"] != "local":
        table["cores_per_node"] = cores.num_cpus // (cores.num_cpus_per_core or 1)
    try:
        make_spec(name, table, where=name)
    except PlatformError as error:
        notes.append(str(error))
        return
    site.tables[name] = table


def _slurm(partition: _Partition, notes: list[str]) -> dict[str, Any]:
    table: dict[str, Any] = {"type": "slurm"}
    for option, value in options(partition.access):
        if option in SLURM and value:
            table[SLURM[option]] = value
        elif option != "--exclusive":
            notes.append(f"the option '{option}{f' {value}' * bool(value)}' is not taken over")
    if partition.launcher in LAUNCHERS:
        table["launcher"] = LAUNCHERS[partition.launcher]
    else:
        notes.append(f"srun stands for the launcher '{partition.launcher}'")
    if (limit := _minutes(partition.time_limit)) is not None:
        table["time_min"] = limit
    notes.append("the number of nodes is bareline's default: set `nodes`")
    return table


def _local(partition: _Partition, notes: list[str]) -> dict[str, Any]:
    notes.append("this is the machine that bareline runs on")
    if partition.launcher not in ("local", *LAUNCHERS):
        notes.append(f"MPI's own launcher stands for '{partition.launcher}'")
    return {"type": "local"}


def _ssh(partition: _Partition, notes: list[str]) -> dict[str, Any]:
    user, hosts = "", []
    for option, value in options(partition.access):
        if option == "-l":
            user = f"{value}@"
        elif option.startswith("-"):
            notes.append(f"the option '{option}{f' {value}' * bool(value)}' is not taken over")
        else:
            hosts.append(option)
    return {"type": "ssh", "hosts": [f"{user}{host}" for host in hosts]}


def _job(partition: _Partition, notes: list[str]) -> dict[str, Any]:
    words = " ".join(partition.access)
    options = f" --batch-options '{words}'" if words else ""
    notes.append(f"for its jobs: bareline submit --with {partition.scheduler}{options}")
    notes.append("the number of nodes is bareline's default: set `nodes`")
    return {"type": "job"}


_READERS = {
    **{"slurm": _slurm, "squeue": _slurm, "local": _local, "ssh": _ssh},
    **dict.fromkeys(("pbs", "torque", "lsf", "flux"), _job),
}


def options(access: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Give the options of ``access`` with their values; a bare word has none."""
    words = []
    for text in access:
        try:
            words += shlex.split(text)
        except ValueError:
            words.append(text)
    at = 0
    while at < len(words):
        option, equals, value = words[at].partition("=")
        short = not option.startswith("--") and option.startswith("-")
        if short and len(option) > 2:
            option, value = option[:2], option[2:] + equals + value
        elif short and not equals and at + 1 < len(words) and not words[at + 1].startswith("-"):
            at += 1
            value = words[at]
        yield option, value
        at += 1


def _surroundings(
    parts: Sequence[_Environment], table: Mapping[str, Any], notes: list[str]
) -> dict[str, Any]:
    """Give modules and variables of a partition and its environment."""
    modules = []
    for module in (module for part in parts for module in part.modules):
        if isinstance(module, str):
            modules.append(module)
        else:
            modules.append(str(module.get("name", "")))
            if module.get("collection") or module.get("path"):
                notes.append(f"of the module '{modules[-1]}' only the name is taken over")
    variables = {
        key: str(value) for part in parts for key, value in (*part.variables, *part.env_vars)
    }
    notes += [
        f"the command '{command}' is not taken over"
        for part in parts
        for command in part.prepare_cmds
    ]
    if modules and table["type"] == "local":
        notes.append(f"load its modules yourself: module load {' '.join(modules)}")
        modules = []
    found = {"modules": modules, "environment": variables}
    return {key: value for key, value in found.items() if value}


def _minutes(limit: str | None) -> int | None:
    """Give ReFrame's form of a time limit, such as ``1d2h30m``, in minutes."""
    match = _TIME.fullmatch(limit or "")
    if not match or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return max(1, days * 1440 + hours * 60 + minutes + -(-seconds // 60))
