"""What a platform is, and how its types are found.

A platform type is one module or package of this package that ends in ``PLATFORM = ...`` (a
subclass of `Platform`).
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from bareline.model import Command, Layout, Output, Scalar


class Options(BaseModel):
    """Options of a platform type, as they stand in a platform file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @property
    def node_count(self) -> int:
        """Number of nodes over which ranks can be spread."""
        return 1


@dataclass(frozen=True, slots=True)
class PlatformSpec:
    """A platform as configured: its name, type and checked options.

    `builtin` says that it came with bareline rather than from the user's file.
    """

    name: str
    type: str
    options: Options
    title: str = ""
    builtin: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Give the spec as it stands in a platform file, defaults included."""
        return {
            "type": self.type,
            **({"title": self.title} if self.title else {}),
            **self.options.model_dump(mode="json", exclude_none=True),
        }


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a platform can be used here; `reason` says why not and `hint` the next step."""

    ok: bool
    reason: str = ""
    hint: str = ""


class Allocation(ABC):
    """A platform in use: nodes that are up until the context that gave it ends."""

    @abstractmethod
    def facts(self) -> Mapping[str, Scalar]:
        """Describe the nodes: processor, memory, kernel, network, MPI (see `bareline.facts`)."""

    @abstractmethod
    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command and bring back all it said; never leaves a process behind.

        Raises
        ------
        ToolMissing
            A program of ``command.requires`` is not on a node.
        PlatformError
            The platform itself broke; a program that fails is an `Output` instead.
        """

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name what makes every number measured with this layout doubtful."""
        return ()

    def suspend(self) -> None:
        """Stop using the machine while another platform is measured; idempotent."""

    def resume(self) -> None:
        """Undo `suspend`; idempotent."""

    def events(self) -> tuple[str, ...]:
        """Tell, once each, what happened to nodes since the last call (replaced, rebuilt)."""
        return ()


@dataclass(frozen=True, slots=True)
class Context:
    """What a platform may use while it is acquired.

    Parameters
    ----------
    scratch
        A private folder that exists until the allocation ends.
    cache
        bareline's cache folder, shared by runs.
    """

    scratch: Path
    cache: Path


class Platform(ABC):
    """A kind of place where trials run.

    Attributes
    ----------
    type_name
        Its name in platform files.
    summary
        One line for ``bareline platforms``.
    options
        Its checked options.
    """

    type_name: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[type[Options]]

    def __init__(self, spec: PlatformSpec, context: Context) -> None:
        self.spec = spec
        self.context = context

    @classmethod
    def available(cls, spec: PlatformSpec) -> Availability:
        """Say, cheaply and without side effects, whether the platform can be acquired here."""
        return Availability(True)

    @classmethod
    def clean(cls) -> list[str]:
        """Remove what a killed bareline left behind; say, a line each, what that was."""
        return []

    @abstractmethod
    def acquire(self, layout: Layout) -> AbstractContextManager[Allocation]:
        """Bring up the nodes for layouts up to this one, and take them down on every exit.

        Raises
        ------
        PlatformError
            The nodes did not come up.
        """


@cache
def load_platform_types() -> Mapping[str, type[Platform]]:
    """Find every platform type of this package, by name."""
    import bareline.platforms as package

    found: dict[str, type[Platform]] = {}
    for module in pkgutil.iter_modules(package.__path__, "bareline.platforms."):
        platform = getattr(importlib.import_module(module.name), "PLATFORM", None)
        if platform is not None:
            found[platform.type_name] = platform
    return found
