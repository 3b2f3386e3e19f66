"""A platform as it is configured: what its file says, whatever its type makes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic

from pydantic import BaseModel, ConfigDict
from typing_extensions import TypeVar

from bareline.vocabulary.capacity import Capacity
from bareline.vocabulary.limits import NO_TERMS, Terms
from bareline.vocabulary.model import Command
from bareline.vocabulary.pinning import UNBOUND, Pinning, PinningKeys

#: What a platform may be called, and how that is said; it names files of a run.
PLATFORM_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
PLATFORM_NAME_HINT = "use at most 100 letters, digits, '.', '_' and '-'"


def platform_name(title: str) -> str:
    """Make a platform's name of what others call it: daint:gpu+gnu becomes daint-gpu-gnu."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", title).strip("-._")[:100]
    return name if PLATFORM_NAME.fullmatch(name) else "unnamed"


#: The program of a command whose argument is a trace that is to be replayed.
REPLAY = "{native}/replay"
#: Stands in commands for the platform's `build`.
_BUILD = "{build}"


class Options(BaseModel):
    """Options of a platform type, as they stand in a platform file.

    - `pins`: whether its ranks can be placed on the processors of a node as a study asks for.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    pins: ClassVar[bool] = False

    @property
    def pinning(self) -> Pinning:
        """How it places ranks where a study does not say."""
        return UNBOUND

    @property
    def node_count(self) -> int:
        """Number of nodes over which ranks can be spread."""
        return 1

    @property
    def cores_per_node(self) -> int | None:
        """Cores of each node for ranks; None where its options do not tell."""
        return None

    def refuses(self, command: Command) -> str:
        """Say why such a command can never run there; "" where it may."""
        replays = command.argv[0] == REPLAY
        return "is a trace, which only simulated platforms replay" if replays else ""


class PinningOptions(PinningKeys, Options):
    """Options of a platform type whose launcher places ranks."""

    pins: ClassVar[bool] = True


#: The options of a platform type; a spec whose type nobody has looked at has some `Options`.
O_co = TypeVar("O_co", bound=Options, default=Options, covariant=True)


@dataclass(frozen=True, slots=True)
class PlatformSpec(Generic[O_co]):
    """A platform as configured: its name, type and checked options.

    `builtin` says that it came with bareline rather than from the user's file, `cores_per_node`
    what its file says of the nodes; in a run directory, what was known when the run was made.
    `environment` are variables that every program of a trial gets there, by name; `build` is the
    path of a program, or of the folder of several, that ``{build}`` stands for in commands.
    `limits` are what a run may take of it, and what that costs.
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

    @property
    def capacity(self) -> Capacity:
        """What it holds, as its file and its type's options say."""
        return Capacity(self.options.node_count, self.cores_per_node or self.options.cores_per_node)

    def settled(self) -> PlatformSpec[O_co]:
        """Give the spec with what this machine decides put down, for the run directory."""
        return replace(self, cores_per_node=self.capacity.cores_per_node)

    def refuses(self, command: Command) -> str:
        """Say why such a command can never run there; "" where it may."""
        if needs_build(command) and not self.build:
            return "needs a build: give --build-a and --build-b, or `build` in the platform's table"
        return self.options.refuses(command)

    def furnish(self, command: Command) -> Command:
        """Give a command what the platform adds: its variables, and its build."""

        def built(text: str) -> str:
            return text.replace(_BUILD, self.build) if self.build else text

        # What the probe sets has its reason: it comes after, and counts.
        env = self.environment + command.env
        return replace(
            command,
            argv=tuple(map(built, command.argv)),
            env=tuple((name, built(value)) for name, value in env),
            inputs=tuple((name, built(text)) for name, text in command.inputs),
            # A build that is missing fails its trials: it is no program that may be left out.
            requires=tuple(name for name in command.requires if _BUILD not in name),
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the spec as it stands in a platform file, defaults included."""
        return {
            "type": self.type,
            **({"title": self.title} if self.title else {}),
            **({"cores_per_node": self.cores_per_node} if self.cores_per_node else {}),
            **({"environment": dict(self.environment)} if self.environment else {}),
            **({"build": self.build} if self.build else {}),
            **self.limits.model_dump(exclude_none=True),
            **self.options.model_dump(mode="json", exclude_none=True),
        }


def needs_build(command: Command) -> bool:
    """Tell whether a command names a build, wherever it stands."""
    texts = [*command.argv, *(text for _, text in (*command.env, *command.inputs))]
    return any(_BUILD in text for text in texts)
