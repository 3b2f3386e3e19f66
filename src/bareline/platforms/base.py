"""The interface of platforms, and the search for their types.

A platform type is a subclass of `Platform`. bareline's own types are modules or packages in a
package of `_FOLDERS`; each of them assigns its type to the name ``PLATFORM``. A plug-in installs
its type under the entry-point group ``bareline.platforms``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Generic, cast

from bareline.build.record import NativeBuild
from bareline.host.cache import cache_folder
from bareline.vocabulary.errors import PlatformError, PluginError, UsageError, one_line
from bareline.vocabulary.model import Command, Layout, Output, Scalar
from bareline.vocabulary.platform import O_co, Options, PlatformSpec
from bareline.vocabulary.plugins import brought, checked, has_plugins, named, own
from bareline.vocabulary.units import count

#: The entry-point group of plug-ins, and the package of bareline's own types.
_PACKAGE = "bareline.platforms"
#: The packages that bareline's own types are in.
_FOLDERS = (_PACKAGE, *(f"{_PACKAGE}.{folder}" for folder in ("localhost", "reached", "made")))


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a platform can be used here; `reason` is the obstacle, `hint` the next step."""

    ok: bool
    reason: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class NodeLook:
    """The equipment of a node, inspected before any node is reserved.

    - `cores`: the cores that a process on the node may use.
    - `has_python`: whether bareline's Python interpreter starts on the node, as a submitted job
      requires; None if unknown.
    - `lacking`: missing programs that a build on the node needs; None if unknown.
    - `has_build`: whether the node's cache has a complete build of the native programs.
    """

    name: str
    cores: int
    has_python: bool | None = None
    lacking: tuple[str, ...] | None = None
    has_build: bool = False


class Allocation(ABC):
    """A platform in use: its nodes are up until the context that yielded the allocation ends."""

    @abstractmethod
    def facts(self) -> Mapping[str, Scalar]:
        """Return the facts of the nodes: processor, memory, kernel, network, MPI.

        See `bareline.facts`.
        """

    @abstractmethod
    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command and return its output; no process of the command survives the call.

        Raises ToolMissing: a program of ``command.requires`` is not on a node. Raises
        PlatformError: the platform failed. The failure of a program is not an error, but part of
        the returned `Output`.
        """

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Return the reasons to doubt every number that is measured with this layout."""
        return ()

    def prepare(self, command: Command) -> None:
        """Build the programs of a command, once, before any trial of the command is timed."""

    @property
    def cores(self) -> int:
        """The number of cores that the allocation uses on all its machines.

        The core hours of a run are computed from this number.
        """
        return 1

    def helpers_s(self) -> float | None:
        """Return the processor time that bareline's long-lived processes here have used so far.

        None if trials run on other machines, whose load is not known.
        """
        return 0.0

    def sha256_of(self, path: str) -> str:
        """Return the checksum of a file on the first node; "" if it is unknown."""
        return ""

    def suspend(self) -> None:
        """Stop using this machine's processors while another platform is measured; idempotent."""

    def resume(self) -> None:
        """Undo `suspend`; idempotent."""

    def events(self) -> tuple[str, ...]:
        """Return the events of nodes since the last call, such as a replaced or rebuilt node.

        Each event is returned once.
        """
        return ()


@dataclass(frozen=True, slots=True)
class Context:
    """The resources that a platform may use while it is acquired."""

    scratch: Path
    cache: Path = field(default_factory=cache_folder)


class Platform(ABC, Generic[O_co]):
    """A type of platform, on which trials run.

    - `type_name`: name of the type in platform files.
    - `summary`: one line for ``bareline platforms``.
    - `options`: the checked options of the platform.
    - `boots`: whether the nodes are created at each acquisition of the platform.
    - `cases_per_turn`: the number of cases that run on the platform before another platform has its
      turn. The number is above 1 if a change of platform takes seconds.
    - `exact`: whether a repeated trial gives the same values. If so, each case runs only once.
    - `borrows`: whether a batch system or a cloud chooses the nodes. If so, node names are not
      compared between the sessions of a run.
    - `here`: whether trials run on this machine, whose other programs disturb the trials.
    """

    type_name: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[type[Options]]
    boots: ClassVar[bool] = False
    cases_per_turn: ClassVar[int] = 1
    exact: ClassVar[bool] = False
    borrows: ClassVar[bool] = False
    here: ClassVar[bool] = False

    def __init__(self, spec: PlatformSpec[O_co], context: Context) -> None:
        self.spec = spec
        self.context = context

    @classmethod
    def check(cls, spec: PlatformSpec[O_co]) -> None:
        """Check quickly and without side effects that the platform can be acquired here.

        Raises PlatformError: the platform cannot be acquired.
        """

    @classmethod
    def available(cls, spec: PlatformSpec[O_co]) -> Availability:
        """Return whether the platform can be acquired here."""
        try:
            cls.check(spec)
        except PlatformError as error:
            where = f"{error.where}: " if error.where else ""
            return Availability(False, f"{where}{error.what}", error.hint or "")
        return Availability(True)

    @classmethod
    def emulated(cls, spec: PlatformSpec[O_co]) -> str:
        """Describe why the platform's processors are emulated here.

        The text is empty if the processors are not emulated or nothing is known about them.
        """
        return ""

    @contextmanager
    def starting(self, layout: Layout) -> Iterator[None]:
        """Check that the platform has enough nodes and can be acquired.

        The caller acquires the platform inside the context. The name of the platform is added to an
        error that is raised there.
        """
        nodes = self.spec.options.node_count
        try:
            if layout.nodes > nodes:
                raise PlatformError(
                    f"{layout.nodes} nodes are requested, but the inventory has only "
                    f"{count(nodes, 'node')}"
                )
            self.check(self.spec)
            yield
        except PlatformError as error:
            error.where = f"{self.spec.name}, {error.where}" if error.where else self.spec.name
            raise

    @classmethod
    def cores(cls, spec: PlatformSpec[O_co], layout: Layout) -> int | None:
        """Return the number of cores that the platform will use for this and smaller layouts.

        None if the number is not known yet.
        """
        each = spec.capacity.cores_per_node
        return 1 if cls.exact else each and each * max(1, layout.nodes)

    @classmethod
    def build(cls, spec: PlatformSpec[O_co], cache: Path) -> NativeBuild:
        """Build the native programs for the platform's MPI library, or find them in the cache.

        Raises UsageError: platforms of this type need no build. Raises ToolMissing: the platform's
        MPI library is not installed. Raises BuildError: the programs do not compile.
        """
        raise UsageError(
            f"nothing can be built for a platform of type '{cls.type_name}': it needs no native"
            " programs"
        )

    @classmethod
    def definition(cls, spec: PlatformSpec[O_co]) -> str:
        """Return the libvirt definition of the platform's first node.

        Raises UsageError: the platform's nodes are not virtual machines.
        """
        raise UsageError(
            f"'{spec.name}' is of type '{spec.type}', but only virtual machines have a definition",
            hint=f"`bareline platforms show {spec.name}` shows its options",
        )

    @classmethod
    def look(cls, spec: PlatformSpec[O_co], context: Context) -> tuple[NodeLook, ...]:
        """Inspect nodes before any node is reserved: cores, Python, compilers.

        The result is empty if this machine is the node, or if nodes do not exist before an
        acquisition.

        Raises PlatformError: the nodes cannot be reached now.
        """
        return ()

    @classmethod
    def build_ahead(cls, spec: PlatformSpec[O_co], cache: Path) -> str:
        """Build the nodes' programs here, on this machine, before nodes are reserved.

        Reserved nodes, which may cost money, then need not wait for the build. Return
        a sentence if the nodes will build the programs themselves, and "" in all other cases.
        """
        return ""

    @classmethod
    def running(cls, spec: PlatformSpec[O_co]) -> str:
        """Describe the paid resources that bareline processes of this machine now use.

        The text is empty if they use no such resources.
        """
        return ""

    @classmethod
    def clean(cls) -> list[str]:
        """Remove the leftovers of killed bareline processes; return a line for each."""
        return []

    @abstractmethod
    def acquire(self, layout: Layout) -> AbstractContextManager[Allocation]:
        """Bring up the nodes for this layout and smaller layouts; release the nodes on every exit.

        Raises PlatformError: a node did not come up.
        """


class _PlatformTypes(Mapping[str, type[Platform[Any]]]):
    """The platform types by name; bareline's own types are only imported when they are used.

    The import of all types takes longer than many commands of bareline. If plug-ins are installed,
    all types are imported, so that two types of the same name are found and refused.
    """

    def __init__(self) -> None:
        self._imported: dict[str, type[Platform[Any]]] = {}

    def __getitem__(self, name: str) -> type[Platform[Any]]:
        if name not in self._imported:
            self._imported[name] = self._import_own(name) or self._all[name]
        return self._imported[name]

    def check(self) -> None:
        """Import all types.

        Raises PluginError: two types have the same name, or a plug-in's object is not a platform
        type.
        """
        len(self._all)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _all(self) -> Mapping[str, type[Platform[Any]]]:
        built_in = chain.from_iterable(own(folder, "PLATFORM") for folder in _FOLDERS)
        by_name = sorted(built_in, key=lambda located: located[0].rpartition(".")[2])
        objects = chain(by_name, brought(_PACKAGE))
        types = list(checked("platform type", objects, type))
        for where, type_ in types:
            if not issubclass(type_, Platform):
                raise PluginError(
                    f"the class {type_.__name__} of the plug-in is not a subclass of Platform",
                    where=where,
                )
        return named("platform type", types, lambda platform: platform.type_name)

    def _import_own(self, name: str) -> type[Platform[Any]] | None:
        """Import the module that has the name of a type, and return the type.

        None if there is no such module, or if plug-ins are installed.
        """
        if has_plugins(_PACKAGE) or not name.isidentifier():
            return None
        for folder in _FOLDERS:
            module = f"{folder}.{name}"
            if find_spec(module) is None:
                continue
            type_ = vars(import_module(module)).get("PLATFORM")
            if type_ is not None and type_.type_name == name:
                return cast("type[Platform[Any]]", type_)
        return None


@cache
def load_platform_types() -> Mapping[str, type[Platform[Any]]]:
    """Return every platform type of this package and of installed plug-ins, by name.

    Raises PluginError: two types have the same name, or a plug-in's object is not a platform type.
    """
    types = _PlatformTypes()
    if has_plugins(_PACKAGE):
        types.check()
    return types


def exact_among(specs: Iterable[PlatformSpec[Any]]) -> frozenset[str]:
    """Return the names of the exact platforms: a repeated trial gives the same values there."""
    types = load_platform_types()
    return frozenset(spec.name for spec in specs if types[spec.type].exact)


def availability_of(spec: PlatformSpec[Any]) -> Availability:
    """Return whether a platform can be acquired here.

    If the platform's type raises an error, the text of the error becomes the reason.
    """
    try:
        return load_platform_types()[spec.type].available(spec)
    except Exception as error:  # options of a user, types of third parties
        return Availability(False, one_line(f"{type(error).__name__}: {error}"))


def running_of(spec: PlatformSpec[Any]) -> str:
    """Describe the paid resources that bareline processes of this machine now use on a platform.

    The text is empty if they use no such resources.
    """
    return load_platform_types()[spec.type].running(spec)
