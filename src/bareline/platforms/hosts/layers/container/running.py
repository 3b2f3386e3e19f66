"""Containers in use, in which every program of an allocation's trials is started.

A container for a single rank only needs a command line. A container that a node's ranks share is
kept open by a process on the node. This process ends when its input ends, so it never survives
bareline.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from bareline.host.tools import require, tool_missing
from bareline.platforms.hosts.holder import wait_ready
from bareline.platforms.hosts.launchers.installation import launcher_names
from bareline.platforms.hosts.layers.container import inspection
from bareline.platforms.hosts.layers.container.images import resolve
from bareline.platforms.hosts.layers.container.options import Container
from bareline.platforms.hosts.layers.container.runtimes import Box, ImageKind, Runtime, runtimes
from bareline.platforms.hosts.nodes import Nodes
from bareline.platforms.hosts.process import Process, holding, run_process
from bareline.platforms.hosts.scripts.node_channel import script
from bareline.platforms.hosts.workdir import folder_name
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Scalar

_READY_S = 60.0
#: A script that prints the missing mount points of an image, or makes them if $2 is not empty.
_PLACES = """\
root=$1 make=$2; shift 2
for path in "$@"; do
    [ -d "$root$path" ] && continue
    [ "$make" ] && mkdir -p -- "$root$path" && continue
    echo "$path"
done
"""
#: The newest version of the GNU C library that programs of a folder ask for.
_NEEDED = 'cat "$1"/* | grep -ao "GLIBC_2\\.[0-9]*" | sort -uV | tail -n 1'
_VERSION = re.compile(r"\d+(\.\d+)+[~\w.]*")
_GLIBC = re.compile(r"GLIBC_(2\.\d+)")


class RunningContainers:
    """The containers of an allocation."""

    def __init__(self, options: Container, nodes: Nodes, cache: Path, where: str) -> None:
        self.runtime = runtimes()[options.runtime]
        self._options = options
        self._nodes = nodes
        self._where = f"{where}, container"
        self._image = resolve(options, cache, self._where)
        self._mark = uuid.uuid4().hex[:8]
        self._stack = ExitStack()
        self._holders: list[Process] = []
        self._ready: tuple[str, ...] = ()
        self._looks: tuple[inspection.ContainerView, inspection.ContainerView] | None = None
        self._fitting: set[str] = set()

    @property
    def _joins(self) -> bool:
        return self._options.share == "node" and not self.whole

    @property
    def whole(self) -> bool:
        """Whether MPI's launcher also has to run inside the container."""
        return self.runtime.whole

    @property
    def caveats(self) -> tuple[str, ...]:
        """Return the reasons to doubt numbers that are measured in these containers."""
        if self.whole:
            return ("sandbox-kernel",)
        return ()

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Return the command that starts a program in a container; it is the same on every node."""
        self._make_ready()
        before = self.runtime.joined if self._joins else self.runtime.started
        return [*before(self._box), *argv]

    @property
    def _folder(self) -> str:
        return f"{self._nodes.work_folder()}/{folder_name('')}-{self._mark}"

    @property
    def _box(self) -> Box:
        work = self._nodes.work_folder()
        # MPI libraries write files into /tmp by which the ranks of a node find each other.
        writable = set(_outermost(("/tmp", work, *self._options.bind)))
        visible = _outermost((*writable, self._nodes.programs_folder()))
        return Box(
            image=self._image,
            kind=self._options.kind,
            writable=tuple(sorted(writable)),
            readable=tuple(path for path in visible if path not in writable),
            folder=self._folder,
            name=f"bareline-{self._mark}",
        )

    def _make_ready(self) -> None:
        """Check the runtime and start the shared containers, unless all of these still run."""
        names = tuple(node.name for node in self._nodes.nodes)
        if names == self._ready and all(holder.poll() is None for holder in self._holders):
            return
        self.close()
        for node, name in enumerate(names):
            self._prepare(node, f"{self._where}, {name}")
        if self._joins:
            self._stack.callback(self._remove_folders, len(names))
            for node in range(len(names)):
                line = self._nodes.node_argv(node, self.runtime.holder(self._box), {})
                self._holders.append(self._stack.enter_context(holding(line)))
            for name, process in zip(names, self._holders, strict=True):
                wait_ready(process, f"the container of {name}")
        self._ready = names
        try:
            self._check()
        except PlatformError:
            self.close()
            raise

    def _prepare(self, node: int, where: str) -> None:
        """Check that a node has the runtime and the image, and make the folder of the container."""
        box = self._box
        run = self._nodes.on_node
        programs = [self.runtime.program]
        if self._joins:
            programs += self.runtime.joins_with
        for program in programs:
            if run(node, ["sh", "-c", 'command -v "$1"', "sh", program]).exit_code:
                raise tool_missing(program, where=where)
        if self._joins:
            make = script("own_folder") + 'own_folder "$1"'
            made = run(node, ["sh", "-c", make, "sh", box.folder])
            if made.exit_code:
                raise PlatformError(
                    f"the folder of the container cannot be made: {made.stderr.strip()}",
                    where=where,
                )
        if box.kind in (ImageKind.HOST, ImageKind.STORED):
            return
        if run(node, ["test", "-e", box.image]).exit_code:
            raise PlatformError(
                f"there is no image '{box.image}'",
                where=where,
                hint="give a path that every node has",
            )
        if self.runtime.needs_places:
            self._check_places(node, box, where)

    def _check_places(self, node: int, box: Box, where: str) -> None:
        """Check that an image has a mount point for each visible folder of the node.

        Missing mount points are created in an image that bareline built.
        """
        make = "" if box.kind is ImageKind.PATH else "make"
        # A path below a folder that is shown needs no place of its own.
        places = ["/dev", "/proc", "/sys", *_outermost((*box.readable, *box.writable))]
        line = ["sh", "-c", _PLACES, "sh", box.image, make, *places]
        lacking = self._nodes.on_node(node, line).stdout.split()
        if lacking:
            paths = " ".join(box.image + path for path in lacking)
            raise PlatformError(
                "the image lacks these folders, which bareline needs for mounts: "
                + " ".join(lacking),
                where=where,
                hint=f"make them: `mkdir -p {paths}`",
            )

    def _remove_folders(self, count: int) -> None:
        for node in range(count):
            with suppress(PlatformError, IndexError):
                self._nodes.on_node(node, ["rm", "-rf", "--", self._folder])

    def close(self) -> None:
        """End every shared container; idempotent."""
        self._holders.clear()
        self._ready = ()
        self._stack.close()

    def _check(self) -> None:
        mpi = self._nodes.found_mpi()
        line = ["sh", "-s", "--"]
        if mpi is not None:
            line += launcher_names(mpi.flavour)
        script = Path(__file__).with_name("inspection.sh").read_text(encoding="utf-8")
        outside = self._nodes.on_node(0, line, stdin=script)
        inside = self._nodes.on_node(0, self.enter(line), stdin=script)
        if inside.exit_code or "libc" not in inside.stdout:
            raise PlatformError(
                f"{self.runtime.title} cannot start a container here: {inside.why}",
                where=self._where,
                hint="docs/how-to/containers.md lists the requirements of each runtime",
            )
        self._looks = inspection.read_look(inside.stdout), inspection.read_look(outside.stdout)
        if mpi is not None:
            inspection.check_mpi(*self._looks, mpi, self._where)

    def check_programs(self, folder: str) -> None:
        """Check, once, that the container's C library is new enough for a folder's programs."""
        if folder in self._fitting:
            return
        self._make_ready()
        assert self._looks is not None
        versions = self._nodes.on_node(0, ["sh", "-c", _NEEDED, "sh", folder]).stdout
        match = _GLIBC.search(versions)
        needed = match[1] if match else ""
        inside, _ = self._looks
        inspection.check_libc(inside, needed, self._where)
        self._fitting.add(folder)

    def facts(self) -> Mapping[str, Scalar]:
        """Return the facts of the containers, as seen from inside and outside."""
        self._make_ready()
        assert self._looks is not None
        options = self._options
        runtime = self.runtime
        command = f"{runtime.before}{runtime.program} {runtime.version}"
        version = self._nodes.on_node(0, ["sh", "-c", command])
        number = _VERSION.search(version.stdout + version.stderr)
        facts: dict[str, Scalar] = {
            "container.runtime": runtime.title,
            "container.version": number[0] if number else "unknown",
            "container.share": options.share,
            "container.image": options.image,
            **inspection.look_facts(*self._looks, options.share),
        }
        line = runtime.image_id(self._box)
        if line:
            identity = self._nodes.on_node(0, line, timeout_s=600.0)  # it may have some GB
            if identity.exit_code == 0 and identity.stdout.split():
                facts["container.image_hash"] = identity.stdout.split()[0]
        return facts


def _outermost(folders: Iterable[str]) -> list[str]:
    """Return the folders that are in no other folder of the list, in order."""
    outer_bound: list[str] = []
    for path in sorted(set(folders)):
        if not any(path.startswith(f"{outer}/") for outer in outer_bound):
            outer_bound.append(path)
    return outer_bound


def check_container(options: Container) -> None:
    """Check, without side effects, that a container's runtime is on this machine and works."""
    runtime = runtimes()[options.runtime]
    require(runtime.program)
    check_runtime(runtime)


def check_runtime(runtime: Runtime) -> None:
    """Check that an installed runtime has the rights and the service to make containers here."""
    if runtime.tried:
        tried = run_process(runtime.tried, timeout_s=20.0)
        tried.require_success(f"{runtime.title} cannot make a container here", hint=runtime.remedy)
