"""Platforms from a site's ReFrame configuration: a platform per partition and environment.

The input is JSON: a configuration in JSON, or the output of ``reframe --show-config`` for a
configuration in Python. A configuration in Python is a program, which bareline does not run.
Platforms of imported ReFrame results have the same names.

References
----------
ReFrame's manual, "Configuration Reference", https://reframe-hpc.readthedocs.io.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bareline.platforms.site import LAUNCHERS, SLURM, SitePlatforms, options, read_site_file
from bareline.vocabulary.documents import DESCRIPTION, parse_json
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.validation_errors import problem_of

_HOW = "print it with `reframe -C FILE --system=SYSTEM:PARTITION --show-config` and give that"
#: No job runs for a million days.
_TIME = re.compile(r"(?:(\d{1,6})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?", re.ASCII)


_Item = TypeVar("_Item")
#: Each partition repeats the modules of its environments.
_Few = Annotated[list[_Item], Field(max_length=1000)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class _Processor(_Part):
    num_cpus: Annotated[int, Field(ge=1)] | None = None
    num_cpus_per_core: Annotated[int, Field(ge=1)] | None = None


class _Environment(_Part):
    """Modules and variables of an environment; ReFrame 4 renamed `variables` to `env_vars`."""

    name: str = ""
    modules: _Few[str | dict[str, Any]] = Field(default_factory=list)
    env_vars: _Few[tuple[str, Any]] = Field(default_factory=list)
    variables: _Few[tuple[str, Any]] = Field(default_factory=list)
    prepare_cmds: _Few[str] = Field(default_factory=list)


class _Partition(_Environment):
    name: str
    descr: str = ""
    scheduler: str
    launcher: str
    access: _Few[str] = Field(default_factory=list)
    environs: _Few[str] = Field(default_factory=list)
    processor: _Processor = _Processor()
    time_limit: str | None = None


class _System(_Part):
    name: str
    partitions: list[_Partition]


class _Config(_Part):
    systems: Annotated[list[_System], Field(min_length=1)]
    environments: list[_Environment] = Field(default_factory=list)


def read_site(file: Path) -> SitePlatforms:
    """Return the platforms of a ReFrame configuration."""
    content = read_site_file(file, DESCRIPTION.size_bytes, _HOW)
    try:
        config = _Config.model_validate(parse_json(content))
    except ValidationError as error:
        problem = problem_of(error)
        why = f"not a configuration of ReFrame: '{problem.key}': {problem.clause}"
        raise PlatformError(why, where=str(file), hint=_HOW) from error
    except ValueError as error:
        why = f"not valid JSON: {error}"
        raise PlatformError(why, where=str(file), hint=f"a file in Python: {_HOW}") from error
    site = SitePlatforms()
    environments = {environment.name: environment for environment in config.environments}
    for system in config.systems:
        for partition in system.partitions:
            _add_partition(site, f"{system.name}:{partition.name}", partition, environments)
    return site


def _add_partition(
    site: SitePlatforms,
    name: str,
    partition: _Partition,
    environments: Mapping[str, _Environment],
) -> None:
    """Add a platform for each environment of a partition, or one if it has no environments."""
    for environ in partition.environs or [""]:
        title = f"{name}+{environ}" if environ else name
        notes = []
        parts: list[_Environment] = [partition]
        if environ in environments:
            parts.append(environments[environ])
        elif environ:
            notes.append(
                f"the environment '{environ}' is not in this file: if ReFrame printed it, "
                f"ask with --system={name}"
            )
        site.add(title, notes, partial(_table, title, partition, parts))


def _table(
    title: str, partition: _Partition, parts: Sequence[_Environment], notes: list[str]
) -> dict[str, Any] | None:
    reader = _READERS.get(partition.scheduler)
    if reader is None:
        notes.append(f"no type of platform for the scheduler '{partition.scheduler}'")
        return None
    full_title = f"{title}, {partition.descr}" if partition.descr else title
    table: dict[str, Any] = {"title": full_title}
    table |= reader(partition, notes)
    table |= _surroundings(parts, table, notes)
    cores = partition.processor
    if cores.num_cpus and table["type"] != "local":
        table["cores_per_node"] = cores.num_cpus // (cores.num_cpus_per_core or 1)
    return table


def _left_out(option: str, value: str) -> str:
    words = f"{option} {value}" if value else option
    return f"the option '{words}' is not taken over"


def _slurm(partition: _Partition, notes: list[str]) -> dict[str, Any]:
    table: dict[str, Any] = {"type": "slurm"}
    for option, value in options(partition.access):
        if option in SLURM and value:
            table[SLURM[option]] = value
        elif option != "--exclusive":
            notes.append(_left_out(option, value))
    if partition.launcher in LAUNCHERS:
        table["launcher"] = LAUNCHERS[partition.launcher]
    else:
        notes.append(f"srun is used instead of the launcher '{partition.launcher}'")
    limit_min = _minutes(partition.time_limit)
    if limit_min is not None:
        table["time_min"] = limit_min
    notes.append("the number of nodes is bareline's default: set `nodes`")
    return table


def _local(partition: _Partition, notes: list[str]) -> dict[str, Any]:
    notes.append("this is the machine that bareline runs on")
    if partition.launcher not in ("local", *LAUNCHERS):
        notes.append(f"MPI's own launcher is used instead of '{partition.launcher}'")
    return {"type": "local"}


def _ssh(partition: _Partition, notes: list[str]) -> dict[str, Any]:
    user = ""
    hosts = []
    for option, value in options(partition.access):
        if option == "-l":
            user = f"{value}@"
        elif option.startswith("-"):
            notes.append(_left_out(option, value))
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
    "slurm": _slurm,
    "squeue": _slurm,
    "local": _local,
    "ssh": _ssh,
    **dict.fromkeys(("pbs", "torque", "lsf", "flux"), _job),
}


def _surroundings(
    parts: Sequence[_Environment], table: Mapping[str, Any], notes: list[str]
) -> dict[str, Any]:
    modules: list[str] = []
    variables: dict[str, str] = {}
    commands: list[str] = []
    for part in parts:
        modules += [_module_name(module, notes) for module in part.modules]
        variables |= {key: str(value) for key, value in (*part.variables, *part.env_vars)}
        commands += part.prepare_cmds
    notes += [f"the command '{command}' is not taken over" for command in commands]
    if modules and table["type"] == "local":
        notes.append(f"load its modules yourself: module load {' '.join(modules)}")
        modules = []
    surroundings: dict[str, Any] = {}
    if modules:
        surroundings["modules"] = modules
    if variables:
        surroundings["environment"] = variables
    return surroundings


def _module_name(module: str | Mapping[str, Any], notes: list[str]) -> str:
    if isinstance(module, str):
        return module
    name = str(module.get("name", ""))
    if module.get("collection") or module.get("path"):
        notes.append(f"of the module '{name}' only the name is taken over")
    return name


def _minutes(limit: str | None) -> int | None:
    match = _TIME.fullmatch(limit or "")
    if not match or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    whole_min = (days * 24 + hours) * 60 + minutes
    return max(1, whole_min + math.ceil(seconds / 60))
