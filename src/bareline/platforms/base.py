"""Platforms, and the way in which their types are found.

A type is a module or package, here or in a folder of `_FOLDERS`, that ends in ``PLATFORM = ...``, a
subclass of `Platform`, or one that a plug-in installs under the entry-point group
``bareline.platforms``.
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
    """The equipment of a node, as seen before any node was reserved.

    - `cores`: those that a process there may use.
    - `has_python`: whether the Python that bareline runs with starts there, as a submitted job
      needs it; None if unknown.
    - `lacking`: missing programs without which nothing can be built there; None if unknown.
    - `has_build`: whether its cache has a complete build of the native programs.
    """

    name: str
    cores: int
    has_python: bool | None = None
    lacking: tuple[str, ...] | None = None
    has_build: bool = False


class Allocation(ABC):
    """A platform in use: nodes that are up until the context that gave it ends."""

    @abstractmethod
    def facts(self) -> Mapping[str, Scalar]:
        """Return the nodes: processor, memory, kernel, network, MPI (see `bareline.facts`)."""

    @abstractmethod
    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command and return all its output; never leaves a process behind.

        Raises ToolMissing: a program of ``command.requires`` is not on a node.
        Raises PlatformError: the platform broke; a program that fails is an `Output` instead.
        """

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Return the reasons to doubt every number that is measured with this layout."""
        return ()

    def prepare(self, command: Command) -> None:
        """Prepare a command before a trial is timed, once: build its programs."""

    @property
    def cores(self) -> int:
        """Cores of this or another machine that it uses: its core hours are counted by them."""
        return 1

    def helpers_s(self) -> float | None:
        """Return the processor time so far of long-lived processes here that work for the nodes.

        None where trials run on other machines, whose load is unknown here.
        """
        return 0.0

    def sha256_of(self, path: str) -> str:
        """Return the checksum of a file on the first node; "" if it is unknown."""
        return ""

    def suspend(self) -> None:
        """Stop using the machine while another platform is measured; idempotent."""

    def resume(self) -> None:
        """Undo `suspend`; idempotent."""

    def events(self) -> tuple[str, ...]:
        """Return the events of nodes since the last call (replaced, rebuilt), each once."""
        return ()


@dataclass(frozen=True, slots=True)
class Context:
    """The resources that a platform may use while it is acquired."""

    scratch: Path
    cache: Path = field(default_factory=cache_folder)


class Platform(ABC, Generic[O_co]):
    """A kind of place where trials run.

    - `type_name`: its name in platform files.
    - `summary`: one line for ``bareline platforms``.
    - `options`: its checked options.
    - `boots`: its nodes are made when it is acquired, and again at every acquisition.
    - `cases_per_turn`: how many cases it takes at a turn: more than one where a turn costs seconds.
    - `exact`: a trial gives the same values whenever it is repeated, so each case runs once.
    - `borrows`: a batch system or a cloud chooses its nodes: a change of their names is not a
      difference.
    - `here`: trials run on this machine, and its other programs disturb them.
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
        """See, cheaply and without side effects, that the platform can be acquired here.

        Raises PlatformError: it cannot.
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
        """Describe why its processors are emulated here; "" where they are not or it is unknown."""
        return ""

    @contextmanager
    def starting(self, layout: Layout) -> Iterator[None]:
        """See that a layout fits and the platform can be had; name the platform in errors."""
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
        """Return how many cores it will use for layouts up to one.

        None if it is not known yet.
        """
        each = spec.capacity.cores_per_node
        return 1 if cls.exact else each and each * max(1, layout.nodes)

    @classmethod
    def build(cls, spec: PlatformSpec[O_co], cache: Path) -> NativeBuild:
        """Build the native programs for the platform's MPI library, or find them in the cache.

        Raises UsageError: nothing is built for this type.
        Raises ToolMissing: its MPI library is not installed.
        Raises BuildError: the programs do not compile.
        """
        raise UsageError(f"a platform of type '{cls.type_name}' needs no native programs")

    @classmethod
    def definition(cls, spec: PlatformSpec[O_co]) -> str:
        """Return the libvirt definition of the platform's first node.

        Raises UsageError: its nodes are not virtual machines.
        """
        raise UsageError(
            f"'{spec.name}' is of type '{spec.type}', only virtual machines have a definition",
            hint=f"`bareline platforms show {spec.name}` shows its options",
        )

    @classmethod
    def look(cls, spec: PlatformSpec[O_co], context: Context) -> tuple[NodeLook, ...]:
        """Look at nodes before any is reserved: cores, Python, compilers.

        Empty where nodes are this machine, or are made only when they are acquired.

        Raises PlatformError: they cannot be reached now.
        """
        return ()

    @classmethod
    def build_ahead(cls, spec: PlatformSpec[O_co], cache: Path) -> str:
        """Build for the nodes on this machine, if it can, before they are reserved and paid for.

        Say where nodes will build themselves; "" where none will.
        """
        return ""

    @classmethod
    def running(cls, spec: PlatformSpec[O_co]) -> str:
        """Describe the paid resources that this machine's barelines use for it now; "" for none."""
        return ""

    @classmethod
    def clean(cls) -> list[str]:
        """Remove the remains of killed barelines; return a line for each."""
        return []

    @abstractmethod
    def acquire(self, layout: Layout) -> AbstractContextManager[Allocation]:
        """Bring up the nodes for layouts up to this one, and take them down on every exit.

        Raises PlatformError: the nodes did not come up.
        """


class _PlatformTypes(Mapping[str, type[Platform[Any]]]):
    """The platform types by name; one of bareline's own is imported when it is asked for.

    To import all takes longer than many a verb. Where plug-ins bring types, all are looked at, so
    that two of one name are refused.
    """

    def __init__(self) -> None:
        self._imported: dict[str, type[Platform[Any]]] = {}

    def __getitem__(self, name: str) -> type[Platform[Any]]:
        if name not in self._imported:
            self._imported[name] = self._import_own(name) or self._all[name]
        return self._imported[name]

    def check(self) -> None:
        """Import all types. Raises PluginError: two share a name, or one is not a platform type."""
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
                raise PluginError(f"{type_.__name__} is not a platform type", where=where)
        return named("platform type", types, lambda platform: platform.type_name)

    def _import_own(self, name: str) -> type[Platform[Any]] | None:
        """Import the module that is called as the type; None where there is none, or plug-ins."""
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

    Raises PluginError: two share a name, or a plug-in is not a platform type.
    """
    types = _PlatformTypes()
    if has_plugins(_PACKAGE):
        types.check()
    return types


def exact_among(specs: Iterable[PlatformSpec[Any]]) -> frozenset[str]:
    """Name the platforms of which a trial gives the same values whenever it is repeated."""
    types = load_platform_types()
    return frozenset(spec.name for spec in specs if types[spec.type].exact)


def availability_of(spec: PlatformSpec[Any]) -> Availability:
    """Return whether a platform can be acquired here.

    Whatever its type raises is a reason why not.
    """
    try:
        return load_platform_types()[spec.type].available(spec)
    except Exception as error:  # options of a user, types of third parties
        return Availability(False, one_line(f"{type(error).__name__}: {error}"))


def running_of(spec: PlatformSpec[Any]) -> str:
    """Describe the paid resources that this machine's barelines use for a platform now.

    "" where nothing.
    """
    return load_platform_types()[spec.type].running(spec)
