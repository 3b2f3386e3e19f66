"""An acquired platform for tests, with short methods that run commands or wait for effects."""

from __future__ import annotations

import inspect
import re
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bareline.platforms.base import Allocation, Context, Platform, load_platform_types
from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import listing


@dataclass
class Bench:
    """An allocation in use, for tests.

    - `rank_program`: path of a small MPI program, if there is one.
    - `token`: mark of the processes that the methods start.
    """

    allocation: Allocation
    options: Any
    rank_program: str | None = None
    token: str = field(default_factory=lambda: f"{uuid.uuid4().hex}-1")
    platform: type[Platform[Any]] | None = None

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(self.options.node_count)

    @property
    def two_ranks(self) -> Layout:
        """Layout of two ranks, on two nodes if the platform has several nodes."""
        counts = (2, 1, 1) if self.nodes > 1 else (1, 2, 1)
        return Layout(*counts, self.options.pinning)

    def run(
        self, *argv: str, layout: Layout | None = None, timeout_s: float = 60, **more: Any
    ) -> Output:
        """Run a program, and return its output.

        - `more`: fields of `Command`.
        """
        env = (*more.pop("env", ()), (TRIAL_VARIABLE, self.token))
        command = Command(argv=argv, env=env, **more)
        return self.allocation.run(command, layout or Layout(), timeout_s=timeout_s)

    def shell(self, script: str, **more: Any) -> Output:
        """Run a shell script, and return its output."""
        return self.run("sh", "-c", script, **more)

    def ranks(self, *arguments: str, **more: Any) -> Output:
        """Run the small MPI program, and return its output."""
        assert self.rank_program is not None
        layout = more.pop("layout", self.two_ranks)
        return self.run(self.rank_program, *arguments, mpi=True, layout=layout, **more)


@contextmanager
def open_bench(
    platform: type[Platform[Any]], scratch: Path, *, layout: Layout | None = None, **options: Any
) -> Iterator[Bench]:
    """Acquire a platform for the context, and yield it.

    - `scratch`: a folder that may be written to.
    - `layout`: largest layout; by default one rank on every node.

    Raises PlatformError: the type or its allocation lacks a method; the message names the method.
    """
    _refuse_incomplete(platform)
    spec = PlatformSpec(platform.type_name, platform.type_name, platform.options(**options))
    wanted = layout or Layout(spec.options.node_count)
    with ExitStack() as stack:
        try:
            acquired = platform(spec, Context(scratch)).acquire(wanted)
            allocation = stack.enter_context(acquired)
        except TypeError as error:
            if lacking := _ABSTRACT.match(str(error)):
                methods = re.findall(r"\w+", lacking[2])
                raise PlatformError(_lacks(lacking[1], methods, HostsAllocation)) from error
            raise
        yield Bench(allocation, spec.options, platform=platform)


#: Python's message about a class with missing methods.
_ABSTRACT = re.compile(
    r"Can't instantiate abstract class (\w+) with(?:out an implementation for)? "
    r"abstract methods? (.*)"
)


def _refuse_incomplete(platform: type[Platform[Any]]) -> None:
    if missing := sorted(platform.__abstractmethods__):
        raise PlatformError(_lacks(platform.__name__, missing, Platform))
    for name in ("type_name", "summary", "options"):
        if not hasattr(platform, name):
            raise PlatformError(
                f"the class {platform.__name__} lacks the attribute '{name}'",
                hint="see the attributes of `Platform`",
            )


def _lacks(name: str, methods: Iterable[str], interface: type) -> str:
    missing = [
        f"{method} ({(inspect.getdoc(getattr(interface, method, None)) or '').partition('.')[0]})"
        for method in methods
    ]
    return f"the class {name} lacks these methods: {listing(missing)}"


class OpenBenches:
    """The acquired platforms; all tests with the same type and options use one of them together.

    The acquisition of a platform takes about a second.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._opened: dict[str, Bench] = {}

    def bench(self, kind: str, rank_program: str | None = None, **options: Any) -> Bench:
        """Return an acquired platform of a type, with a new mark for processes."""
        key = f"{kind} {sorted(options.items())}"
        if key not in self._opened:
            # A new one each time: one that did not open leaves its folder behind.
            scratch = Path(tempfile.mkdtemp(dir=self._folder))
            opened = open_bench(load_platform_types()[kind], scratch, **options)
            self._opened[key] = self._stack.enter_context(opened)
        bench = self._opened[key]
        return Bench(bench.allocation, bench.options, rank_program, platform=bench.platform)


@contextmanager
def keeping(folder: Path) -> Iterator[OpenBenches]:
    """Yield a collection of acquired platforms, which are released at the end.

    Their scratch folders are in `folder`.
    """
    with ExitStack() as stack:
        yield OpenBenches(folder, stack)


def until(condition: Callable[[], object], timeout_s: float = 30.0) -> None:
    """Wait until a condition is true; fail the test after `timeout_s` seconds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true in time"
        time.sleep(0.05)
