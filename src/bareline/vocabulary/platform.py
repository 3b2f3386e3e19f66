"""A configured platform: its file, its capacity, and the cases that it excludes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Generic

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import TypeVar

from bareline.vocabulary.limits import NO_TERMS, Terms
from bareline.vocabulary.model import Case, Command
from bareline.vocabulary.pinning import UNBOUND, Binding, Distribution, Pinning

#: Valid names of a platform, and their description; a name is also the name of files of a run.
PLATFORM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
PLATFORM_NAME_HINT = "use at most 100 letters, digits, '.', '_' and '-'"


def platform_name(title: str) -> str:
    """Turn another tool's platform name into a valid one: daint:gpu+gnu becomes daint-gpu-gnu."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", title).strip("-._")[:100]
    return name if PLATFORM_NAME.fullmatch(name) else "unnamed"


#: The program of a command whose argument is a trace that is to be replayed.
REPLAY = "{native}/replay"
#: Placeholder in commands for the platform's `build`.
_BUILD = "{build}"
#: Placeholder in commands, as a separate word, for the words of the platform's `command`.
COMMAND = "{command}"
#: Placeholder for a brace: the words of `{command}` reach the program unchanged.
BRACE = "{brace}"
_BRACED = re.compile(r"\{(?=[a-z_]+\})")


class Options(BaseModel):
    """Options of a platform type, as in a platform file.

    - `pins`: whether ranks can be placed on the processors of a node as a study requests.
    - `profiles`: whether the profiler can be loaded into the ranks of a launch.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)
    pins: ClassVar[bool] = False
    profiles: ClassVar[bool] = True

    @property
    def pinning(self) -> Pinning:
        """How the platform places ranks if a study does not request a pinning."""
        return UNBOUND

    @property
    def node_count(self) -> int:
        """The number of nodes over which ranks can be spread."""
        return 1

    @property
    def cores_per_node(self) -> int | None:
        """The number of cores of each node for ranks; None if the options do not define it."""
        return None

    def refuses(self, command: Command) -> str:
        """Return why a command can never run on the platform; "" if it can."""
        replays = command.argv[0] == REPLAY
        return "is a trace, which only simulated platforms replay" if replays else ""


class PinningKeys(BaseModel):
    """The keys in a table of a study or a platform that define how ranks are placed.

    - `binding`: the binding of each rank: "none", "hwthread", "core", "numa" or "socket".
    - `ranks_per_socket`, `ranks_per_numa`: the number of ranks on each socket or NUMA domain. Each
      rank is bound to its socket or NUMA domain, unless `binding` is given.
    - `distribution`: "block" fills a socket before the next one, "cyclic" deals ranks to sockets in
      turn.
    """

    binding: Binding | None = None
    ranks_per_socket: Annotated[int, Field(ge=1, le=65_536)] | None = None
    ranks_per_numa: Annotated[int, Field(ge=1, le=65_536)] | None = None
    distribution: Distribution | None = None

    @property
    def asks_pinning(self) -> bool:
        """Whether a study or platform gives any of these keys."""
        return any(getattr(self, name) is not None for name in PinningKeys.model_fields)

    @property
    def pinning(self) -> Pinning:
        """The pinning that the keys describe."""
        domain = "none"
        if self.ranks_per_socket:
            domain = "socket"
        elif self.ranks_per_numa:
            domain = "numa"
        return Pinning(
            binding=self.binding or domain,  # type: ignore[arg-type]
            distribution=self.distribution or "block",
            ranks_per_numa=self.ranks_per_numa or 0,
            ranks_per_socket=self.ranks_per_socket or 0,
        )

    @model_validator(mode="after")
    def _agrees(self) -> PinningKeys:
        if self.ranks_per_socket and self.ranks_per_numa:
            raise ValueError("give `ranks_per_socket` or `ranks_per_numa`, not both")
        placed = self.ranks_per_socket or self.ranks_per_numa or self.distribution == "cyclic"
        if placed and self.pinning.binding == "none":
            raise ValueError(
                "a placement needs bound ranks, because the kernel moves ranks that are not bound; "
                'give `binding`, e.g. "core"'
            )
        if self.distribution == "cyclic" and (self.ranks_per_socket or self.ranks_per_numa):
            raise ValueError(
                'distribution = "cyclic" cannot be used with `ranks_per_socket` or '
                "`ranks_per_numa`; give only one of them"
            )
        return self


class PinningOptions(PinningKeys, Options):
    """Options of a platform type whose launcher places ranks."""

    pins: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Capacity:
    """The capacity of a platform for ranks; `cores_per_node` is None if it is unknown."""

    nodes: int = 1
    cores_per_node: int | None = None

    def ranks(self, threads: int, nodes: int) -> int:
        """Return how many ranks of `threads` threads have their own cores on `nodes` nodes."""
        return (self.cores_per_node or 0) // threads * nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A case that a plan excludes on a platform.

    - `reason`: the reason as a predicate about the case, e.g. "does not fit: ...".
    """

    platform: str
    case: Case
    reason: str


#: The options of a platform type; a spec whose type was not looked up has `Options`.
O_co = TypeVar("O_co", bound=Options, default=Options, covariant=True)


@dataclass(frozen=True, slots=True)
class PlatformSpec(Generic[O_co]):
    """A configured platform: its name, type and checked options.

    - `builtin`: the platform belongs to bareline, not to the user's file.
    - `cores_per_node`: the value in the platform's file; in a run directory, the value at the time
      when the run was created.
    - `environment`: the variables of every program of a trial, by name.
    - `build`: the path of a program, or of a folder with several, for ``{build}`` in commands.
    - `command`: the words that replace the word ``{command}`` of a command.
    """

    name: str
    type: str
    options: O_co
    title: str = ""
    builtin: bool = False
    cores_per_node: int | None = None
    environment: tuple[tuple[str, str], ...] = ()
    build: str = ""
    limits: Terms = NO_TERMS
    command: tuple[str, ...] = ()

    @property
    def capacity(self) -> Capacity:
        """The capacity of the platform, by its file and the options of its type."""
        return Capacity(self.options.node_count, self.cores_per_node or self.options.cores_per_node)

    def settled(self) -> PlatformSpec[O_co]:
        """Return the spec with the values of this machine filled in, for the run directory."""
        return replace(self, cores_per_node=self.capacity.cores_per_node)

    def refuses(self, command: Command) -> str:
        """Return why a command can never run on the platform; "" if it can."""
        if needs_build(command) and not self.build:
            return "needs a build: give --build-a and --build-b, or `build` in the platform's table"
        if COMMAND in command.argv and not self.command:
            return "needs a command: give `command` in the platform's table, or a [variant.NAME]"
        return self.options.refuses(command)

    def furnish(self, command: Command) -> Command:
        """Return a command with the platform's variables, build and command filled in."""

        def built(text: str) -> str:
            return text.replace(_BUILD, self.build) if self.build else text

        argv: list[str] = []
        for word in command.argv:
            argv += self._own_words if word == COMMAND else [built(word)]

        # The probe's variables come last and take precedence: the probe needs them.
        env = self.environment + command.env
        return replace(
            command,
            argv=tuple(argv),
            env=tuple((name, built(value)) for name, value in env),
            inputs=tuple((name, built(text)) for name, text in command.inputs),
            # A missing build fails its trials; it is not one of the optional programs.
            requires=tuple(
                name for name in command.requires if _BUILD not in name and name != COMMAND
            ),
        )

    @property
    def _own_words(self) -> list[str]:
        return [_BRACED.sub(BRACE, word) for word in self.command]

    def to_dict(self) -> dict[str, Any]:
        """Return the spec in the form of a platform file, including default values."""
        keys = {
            "title": self.title,
            "cores_per_node": self.cores_per_node,
            "environment": dict(self.environment),
            "build": self.build,
            "command": list(self.command),
        }
        return {
            "type": self.type,
            **{key: value for key, value in keys.items() if value},
            **self.limits.model_dump(exclude_none=True),
            **self.options.model_dump(mode="json", exclude_none=True),
        }


def needs_build(command: Command) -> bool:
    """Whether any part of a command names a build."""
    texts = [*command.argv, *(text for _, text in (*command.env, *command.inputs))]
    return any(_BUILD in text for text in texts)
