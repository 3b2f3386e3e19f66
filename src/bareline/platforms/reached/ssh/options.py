"""Options of hosts that are reached by ssh, and inventories of Ansible (INI, YAML)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bareline.platforms.reached.remote.cluster import ClusterOptions
from bareline.vocabulary.documents import (
    DESCRIPTION,
    DocumentError,
    parse_lines,
    parse_yaml,
    table_at,
)
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import read_bounded, step_to_read
from bareline.vocabulary.nodeset import nodes_text, unfold

#: The largest machines have fewer nodes, and an inventory of theirs fewer groups.
MOST_HOSTS = 100_000
MOST_GROUPS = 10_000


def read_inventory(path: Path, group: str | None = None) -> list[str]:
    """Return the hosts of an inventory, or of one of its groups.

    Raises
    ------
    PlatformError
        The file cannot be read, is damaged or too large, does not contain the group, or has no
        host.
    """
    try:
        data = read_bounded(path, DESCRIPTION.size_bytes)
    except OSError as error:
        reason = f"the inventory cannot be read: {error.strerror or error}"
        raise PlatformError(reason, where=str(path), hint=step_to_read(error)) from error
    try:
        is_yaml = path.suffix in (".yml", ".yaml")
        groups = _yaml_groups(data, path) if is_yaml else _ini_groups(data)
    except ValueError as error:
        raise PlatformError(f"the inventory is not valid: {error}", where=str(path)) from error
    if group is not None and group not in groups.hosts:
        hint = f"it has: {nodes_text(sorted(groups.hosts)) or 'none'}"
        problem = f"the inventory has no group '{group}'"
        raise PlatformError(problem, where=str(path), hint=hint)
    hosts = groups.hosts_of(groups.hosts if group is None else [group])
    if not hosts:
        raise PlatformError("the inventory names no hosts", where=str(path))
    return hosts


@dataclass(slots=True)
class _Groups:
    """The groups of an inventory; a group has hosts, and groups that belong to it."""

    hosts: dict[str, list[str]] = field(default_factory=dict)
    children: dict[str, list[str]] = field(default_factory=dict)
    count: int = 0

    def add_group(self, name: str) -> None:
        """Add a group, unless it exists.

        Raises ValueError: there are too many groups.
        """
        self.hosts.setdefault(name, [])
        self.children.setdefault(name, [])
        if len(self.hosts) > MOST_GROUPS:
            raise ValueError(f"it has more than {MOST_GROUPS:,} groups")

    def add_hosts(self, group: str, text: str) -> None:
        """Add the hosts of a range such as ``n[1-4]`` to a group.

        Raises ValueError: the text is not a range, or there are too many hosts.
        """
        names = unfold(text)
        self.count += len(names)
        if self.count > MOST_HOSTS:
            raise ValueError(f"the inventory names more than {MOST_HOSTS:,} hosts")
        self.hosts[group] += names

    def hosts_of(self, names: Iterable[str]) -> list[str]:
        """Return the hosts of groups and of their child groups, each host once."""
        hosts: dict[str, None] = {}
        seen: set[str] = set()
        for name in names:
            waiting = [name]
            while waiting:
                group = waiting.pop()
                if group in seen:
                    continue
                seen.add(group)
                hosts |= dict.fromkeys(self.hosts.get(group, ()))
                waiting += reversed(self.children.get(group, []))
        return list(hosts)


def _ini_groups(data: bytes) -> _Groups:
    """Return the groups of an INI inventory.

    ``[x:children]`` adds child groups to a group; ``[x:vars]`` is ignored.
    """
    groups = _Groups()
    name = "ungrouped"
    kind = ""
    for number, text in enumerate(parse_lines(data), 1):
        line = text.partition("#")[0].partition(";")[0].strip()
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            name, _, kind = line[1:-1].partition(":")
            continue
        try:
            _read_ini_line(groups, name, kind, line.split()[0])
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from error
    return groups


def _read_ini_line(groups: _Groups, name: str, kind: str, word: str) -> None:
    if kind not in ("", "children"):
        return
    groups.add_group(name)
    if kind == "children":
        groups.children[name].append(word)
    else:
        groups.add_hosts(name, word)


def _yaml_groups(data: bytes, path: Path) -> _Groups:
    try:
        content = parse_yaml(data)
    except ImportError as error:
        raise PlatformError(
            "the Python package PyYAML is not installed",
            where=str(path),
            hint="install it with `pip install 'bareline[cluster]'`, or give an INI inventory",
        ) from error
    except DocumentError as error:
        raise ValueError(f"not valid YAML: {error}") from error
    groups = _Groups()
    _read_yaml_groups(groups, content, "")
    return groups


def _read_yaml_groups(groups: _Groups, content: Any, place: str) -> list[str]:
    """Read the groups of a table, and return their names.

    - `place`: the key of the table.
    """
    tables = table_at(content, place or "the inventory")
    for name, table in tables.items():
        key = f"{place}.{name}" if place else name
        group = table_at(table, key)
        groups.add_group(name)
        hosts_key = f"{key}.hosts"
        for host in table_at(group.get("hosts"), hosts_key):
            try:
                groups.add_hosts(name, host)
            except ValueError as error:
                raise ValueError(f"'{hosts_key}': {error}") from error
        groups.children[name] += _read_yaml_groups(groups, group.get("children"), f"{key}.children")
    return list(tables)


class ReachedOptions(ClusterOptions):
    """Options of nodes on which programs are started over ssh.

    - `launcher`: the machine on which mpirun starts: ``first`` (the first host, which must be able
      to log in to every other host) or ``here`` (this machine, which the hosts must be able to
      reach).
    - `subnet`: the network that MPI uses, e.g. ``10.0.0.0/24``.
    - `device`: instead of `subnet`, the device of the network, e.g. ``ib0``. Without `subnet` and
      `device`, the MPI library chooses the network, and a host has the address to which its name
      resolves.
    - `connect_s`: time limit in s for the first answer of a host.
    """

    launcher: Literal["first", "here"] = "first"
    connect_s: Annotated[float, Field(gt=0, le=600)] = 20.0


class SshOptions(ReachedOptions):
    """Options of a platform of hosts reached by ssh.

    - `hosts`: names of the hosts for ssh, with ranges such as ``n[1-4]``.
    - `inventory`: an Ansible inventory (INI or YAML), instead of `hosts`.
    - `group`: the group of the inventory whose hosts are used; by default all hosts.
    - `config`: configuration file of ssh; by default the user's own.
    - `agent`: program with which the first host logs in to the other hosts.
    """

    hosts: tuple[str, ...] = ()
    inventory: Path | None = None
    group: str | None = None
    config: Path | None = None
    agent: str = "ssh"

    @property
    def names(self) -> tuple[str, ...]:
        """The names, for ssh, of all hosts that are not excluded."""
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
            raise ValueError("the platform names the same host twice; name it once")
        if not self.names:
            raise ValueError("`exclude` leaves out all hosts; keep at least one host")
        return self
