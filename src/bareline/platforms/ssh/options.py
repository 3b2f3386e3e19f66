"""Options of hosts that are reached by ssh, and inventories of Ansible (INI, YAML)."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bareline.platforms.remote.cluster import ClusterOptions
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import unfold


def read_inventory(path: Path, group: str | None = None) -> list[str]:
    """Give the hosts of an inventory, those of one group where one is named."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PlatformError(f"the inventory cannot be read: {error}", where=str(path)) from error
    try:
        is_yaml = path.suffix in (".yml", ".yaml")
        groups = _yaml_groups(text, path) if is_yaml else _ini_groups(text)
    except ValueError as error:
        raise PlatformError(str(error), where=str(path)) from error
    if group is not None and group not in groups:
        known = f"it has: {', '.join(sorted(groups)) or 'none'}"
        what = f"the inventory has no group '{group}'"
        raise PlatformError(what, where=str(path), hint=known)
    chosen = groups.values() if group is None else [groups[group]]
    hosts = list(dict.fromkeys(chain.from_iterable(chosen)))
    if not hosts:
        raise PlatformError("the inventory names no hosts", where=str(path))
    return hosts


def _ini_groups(text: str) -> dict[str, list[str]]:
    """Read sections of hosts; ``[x:children]`` joins groups, ``[x:vars]`` is left alone."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    children: defaultdict[str, list[str]] = defaultdict(list)
    name, kind = "ungrouped", ""
    for line in text.splitlines():
        line = line.partition("#")[0].partition(";")[0].strip()
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            name, _, kind = line[1:-1].partition(":")
            continue
        first = line.split()[0]
        if kind == "children":
            children[name].append(first)
        elif not kind:
            groups[name] += unfold(first)
    for _ in children:  # a chain is at most as long as there are such groups
        for parent, members in children.items():
            known = (groups.get(member, []) for member in members)
            groups[parent] = list(dict.fromkeys(chain.from_iterable(known)))
    return groups


def _yaml_groups(text: str, path: Path) -> dict[str, list[str]]:
    try:
        import yaml
    except ImportError as error:
        raise PlatformError(
            "the Python package PyYAML is not installed",
            where=str(path),
            hint="install it with `pip install 'bareline[cluster]'`, or give an INI inventory",
        ) from error
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"not valid YAML: {' '.join(str(error).split())[:200]}") from error
    groups: dict[str, list[str]] = {}
    if isinstance(content, dict):
        for name, table in content.items():
            _yaml_group(str(name), table, groups)
    return groups


def _yaml_group(name: str, table: Any, groups: dict[str, list[str]], depth: int = 0) -> list[str]:
    if not isinstance(table, dict) or depth > 50:
        return []
    hosts = [host for text in table.get("hosts") or {} for host in unfold(str(text))]
    for child, inner in (table.get("children") or {}).items():
        hosts += _yaml_group(str(child), inner, groups, depth + 1)
    groups[name] = list(dict.fromkeys((*groups.get(name, []), *hosts)))
    return groups[name]


class ReachedOptions(ClusterOptions):
    """Options of nodes on which programs are started over ssh, whoever made them.

    - `launcher`: where mpirun starts: on the ``first`` host, which must be able to log in to the
      others, or ``here``, on this machine, which the hosts must be able to reach.
    - `subnet`, `device`: the network that MPI uses, e.g. ``10.0.0.0/24``, or its device, e.g.
      ``ib0``. Without either the library chooses, and hosts are known by the address that leads to
      their name.
    - `connect_s`: how long a host may take to answer.
    """

    launcher: Literal["first", "here"] = "first"
    connect_s: Annotated[float, Field(gt=0, le=600)] = 20.0


class SshOptions(ReachedOptions):
    """Options of a platform of hosts reached by ssh.

    - `hosts`: their names for ssh, with ranges as ``n[1-4]``.
    - `inventory`, `group`: an inventory of Ansible (INI or YAML) instead, and a group of it.
    - `config`: configuration of ssh; the user's own without it.
    - `agent`: program with which the first host reaches the others.
    """

    hosts: tuple[str, ...] = ()
    inventory: Path | None = None
    group: str | None = None
    config: Path | None = None
    agent: str = "ssh"

    @property
    def names(self) -> tuple[str, ...]:
        """Every host's name for ssh, but those that are left out."""
        left_out = set(self.excluded)
        return tuple(name for name in self._named if name not in left_out)

    @property
    def _named(self) -> tuple[str, ...]:
        if self.inventory is not None:
            return tuple(read_inventory(self.inventory, self.group))
        return tuple(host for text in self.hosts for host in unfold(text))

    @property
    def node_count(self) -> int:
        return len(self.names)

    @model_validator(mode="after")
    def _fits_together(self) -> SshOptions:
        if bool(self.hosts) == (self.inventory is not None):
            raise ValueError("give either `hosts` or an `inventory`")
        if self.group is not None and self.inventory is None:
            raise ValueError("`group` needs an `inventory`")
        try:
            names = self._named
        except PlatformError as error:
            raise ValueError(str(error)) from error
        if len(set(names)) != len(names):
            raise ValueError("the same host is named twice")
        if not self.names:
            raise ValueError("`exclude` leaves no host")
        return self
