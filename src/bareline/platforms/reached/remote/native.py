"""bareline's own programs on nodes: their build, and the copy or shared folder for each node.

The build is chosen in this order. First, a build that `bareline build --on` made on the first node,
with the node's compilers and MPI library. Second, a build of this machine, if this machine has the
nodes' MPI library in the same version. Third, a build on the first node.
"""

from __future__ import annotations

import io
import os
import platform
import re
import tarfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Literal

from bareline.build.native import ensure_native
from bareline.build.record import NativeBuild
from bareline.build.sources import source_files, source_folder, sources_key
from bareline.host.owner import owner_mark
from bareline.host.tools import install_hint
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.platforms.hosts.nodes import Nodes
from bareline.platforms.hosts.output_limit import HeadAndTail
from bareline.platforms.hosts.process import run_process
from bareline.platforms.hosts.scripts.node_channel import script
from bareline.vocabulary.errors import BuildError, PlatformError, ToolMissing
from bareline.vocabulary.model import TRIAL_VARIABLE
from bareline.vocabulary.units import listing

#: So much is kept of the end of a node's errors.
_COMPLAINT_BYTES = 1 << 16


def pack(folder: Path) -> bytes:
    """Pack a folder's content into a tar archive."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, arcname=".")
    return packed.getvalue()


#: Whether programs are copied to every node, or are on a file system that all nodes see.
Way = Literal["copy", "shared"]
#: An archive of the programs takes some MiB.
_MOST_BYTES = 256 << 20
#: A node's report about a copy, and about a missing library.
_REMARK = re.compile(r"(lacks \S+ \S+|unseen \S+)$")


@dataclass(kw_only=True)
class NativePrograms:
    """bareline's own programs on the nodes of an allocation.

    - `target`: folder of the nodes for copies, which the allocation removes.
    - `made`: returns the folder of this machine's build, if it is known to run on the nodes. It is
      known for guests, which use the host's libraries. None for other nodes.
    """

    nodes: Nodes
    way: Way
    target: str
    cache: Path
    tell: Callable[[str], None]
    made: Callable[[], Path] | None = None
    copied: set[str] = field(default_factory=set, init=False)
    _seen_at: str = field(default="", init=False)

    def folder(self) -> str:
        """Return the folder of the programs on every node; build and copy them if necessary."""
        if self.way == "shared":
            self._seen_at = self._seen_at or self._share()
            return self._seen_at
        names = [node.name for node in self.nodes.nodes]
        waiting = [number for number, name in enumerate(names) if name not in self.copied]
        if waiting:
            self._copy(waiting)
            self.copied.update(names[number] for number in waiting)
        return f"{self.target}/bin"

    @property
    def lies_in(self) -> str:
        """The existing folder on the nodes in which the programs will be placed."""
        if self.way == "shared":
            return str(self.cache.absolute())
        return str(Path(self.target).parent)

    def forget(self, names: Sequence[str] | None = None) -> None:
        """Record that some nodes, or all nodes, no longer have a copy of the programs."""
        if names is None:
            self.copied.clear()
        else:
            self.copied.difference_update(names)
        self._seen_at = ""

    def _share(self) -> str:
        """Return the folder of a build that all nodes share."""
        cached, machine = find_there(self.nodes)
        programs = cached.programs if cached else self._made_here(machine)
        programs = programs or build_there(self.nodes).programs
        everyone = range(len(self.nodes.nodes))
        for line in self._receive(everyone, str(programs.parent), "look", b""):
            word, name, *_ = line.split()
            if word == "unseen":
                raise PlatformError(
                    f"the native programs in {programs} are not visible on this node",
                    where=name,
                    hint='write native = "copy", or set BARELINE_CACHE to a shared folder',
                )
        return str(programs)

    def _copy(self, waiting: Sequence[int]) -> None:
        # Programs search other programs next to their folder, so the whole installation is copied.
        if self.made is not None:
            self._receive(waiting, self.target, "take", pack(self.made().parent))
            return
        cached, machine = find_there(self.nodes)
        here = None if cached else self._made_here(machine)
        if here is None:
            build = cached or build_there(self.nodes)
            packed = fetch(self.nodes, build.path)
        else:
            packed = pack(here.parent)
        lacking = self._receive(waiting, self.target, "unpack", packed)
        first = self.nodes.nodes[0]
        if here and any(line.startswith(f"lacks {first.name} ") for line in lacking):
            # The MPI library is the same, but the first node lacks another library.
            try:
                packed = fetch(self.nodes, build_there(self.nodes).path)
                lacking = self._receive(waiting, self.target, "unpack", packed)
            except PlatformError as error:
                self.tell(f"this machine's builds of the native programs are used: {error}")
        self._tell_lacking(lacking)

    def _tell_lacking(self, lines: Sequence[str]) -> None:
        """Report missing libraries of nodes, from the receiver's lines ``lacks NODE LIBRARY``."""
        by_node: dict[str, list[str]] = {}
        for line in lines:
            _, name, *library = line.split()
            by_node.setdefault(name, []).extend(library)
        for name, libraries in by_node.items():
            self.tell(f"{name} lacks {listing(libraries)}: programs that want it fail there")

    def _receive(self, nodes: Sequence[int], folder: str, order: str, content: bytes) -> list[str]:
        """Send an input to the receiver script on nodes, and return the lines that it prints."""
        text = script("answers") + script("receiver")
        lines = self.nodes.talk_lines(nodes, text, [folder, order])

        def send(names: Sequence[str], line: Sequence[str]) -> list[str]:
            ended = run_process(line, timeout_s=300.0, stdin=content)
            ended.require_success(
                "the native programs could not be copied to the node", where=", ".join(names)
            )
            return [line for line in ended.stdout.splitlines() if _REMARK.match(line)]

        with ThreadPoolExecutor(max_workers=16) as pool:
            return list(chain(*pool.map(send, lines.keys(), lines.values())))

    def _made_here(self, machine: str) -> Path | None:
        mpi = self.nodes.mpi
        try:
            is_here = os.access(mpi.mpirun, os.X_OK)
            here = find_mpi(mpi.mpirun if is_here else mpi.flavour)
            if here.version == mpi.version and platform.machine() == machine:
                return ensure_native(here, self.cache)
        except PlatformError:
            pass  # Not the library of the nodes, or no compiler: they build by themselves.
        return None


def find_there(nodes: Nodes) -> tuple[NativeBuild | None, str]:
    """Return the build in the first node's cache for its compilers and MPI library.

    Also return the node's architecture. The build is None if the cache has no such build.
    """
    answers = _ask(nodes, "find")
    machine = answers.get("machine", [""])[0]
    if "cached" not in answers:
        return None, machine
    return _finished(answers, nodes.nodes[0].name), machine


def build_there(nodes: Nodes) -> NativeBuild:
    """Build on the first node with its compilers, or find the build in the node's cache."""
    where = nodes.nodes[0].name
    if nodes.mpi.mpicc is None:
        raise ToolMissing(
            f"{nodes.mpi.title} is installed without its compiler wrapper mpicc",
            where=where,
            hint="install its development files there, or set `software` to their modules",
        )
    answers = _ask(nodes, "build", _pack_sources())
    for tool in answers.get("missing", ()):
        raise ToolMissing(
            f"'{tool}', which builds the native programs, is not installed on the node",
            where=where,
            hint=f"{install_hint(tool)}, or set `software` to the module that provides it",
        )
    for reason in answers.get("failed", ()):
        raise BuildError(f"the native programs cannot be built: {reason}", where=where)
    return _finished(answers, where)


def fetch(nodes: Nodes, build: Path) -> bytes:
    """Return a build of the first node as a tar archive."""
    line = nodes.node_argv(0, ["tar", "-C", str(build), "-cf", "-", "."], {})
    host = nodes.nodes[0].name
    packed, code, complaint = _exchange(line, b"", "read", host)
    if code:
        raise BuildError(
            f"the native programs on the node cannot be read: {complaint}", where=f"{host}:{build}"
        )
    return packed


def _finished(answers: Mapping[str, Sequence[str]], host: str) -> NativeBuild:
    """Return the build that the answers of a node describe."""
    words = ("target", "toolchain", "seconds")
    target, toolchain, seconds = (answers.get(word, [""])[0] for word in words)
    if not (target and toolchain and re.fullmatch(r"\d{1,9}(\.\d{1,9})?", seconds)):
        answer = f"'{target[:60]}' of '{toolchain[:60]}' in '{seconds[:20]}' s"
        raise BuildError(
            f"the node does not report its build of the programs correctly: {answer}", where=host
        )
    path = Path(target)
    return NativeBuild(
        toolchain=toolchain,
        path=path,
        log=path / "log",
        left_out=tuple(answers.get("left", ())),
        seconds=float(seconds),
        cached="cached" in answers,
        host=host,
    )


def _ask(nodes: Nodes, order: str, sources: bytes = b"") -> dict[str, list[str]]:
    """Run the builder script on the first node, and return its lines by their first word."""
    mpi = nodes.mpi
    where = nodes.nodes[0].name
    argv = ["sh", "-c", script("builder"), "sh", order, sources_key(source_folder())]
    # The mark lets the release of the node end a build that still runs.
    mark = {TRIAL_VARIABLE: f"{owner_mark()}-build"}
    line = nodes.node_argv(0, [*argv, mpi.mpicc or "", mpi.title], mark)
    answer, code, complaint = _exchange(line, sources, "built", where)
    answers: dict[str, list[str]] = {}
    for row in answer.decode(errors="replace").splitlines():
        word, _, rest = row.partition(" ")
        answers.setdefault(word, []).append(rest)
    if code and not ("missing" in answers or "failed" in answers):
        log = answers.get("log", [""])[0]
        hint = f"the whole log is {where}:{log}" if log else None
        raise BuildError(f"the native programs do not build:\n{complaint}", where=where, hint=hint)
    return answers


def _exchange(
    line: Sequence[str], content: bytes, participle: str, where: str
) -> tuple[bytes, int, str]:
    """Send bytes to a command line; return its output, exit code, and the end of its errors.

    - `participle`: the word after "the native programs are not" in error messages, such as "built".
    """
    output = HeadAndTail(_MOST_BYTES)
    timeout_s = 1800.0 if content else 60.0
    ended = run_process(
        line, timeout_s=timeout_s, stdin=content, output=output, lost=lambda: output.is_cut
    )
    if output.is_cut:
        raise BuildError(
            f"the native programs cannot be {participle}: the node prints more than "
            f"{_MOST_BYTES >> 20} MiB",
            where=where,
        )
    if ended.timed_out:
        why = f"the native programs could not be {participle} within {timeout_s:.0f} s"
        raise BuildError(why, where=where)
    complaint = ended.stderr[-_COMPLAINT_BYTES:].strip()
    return output.whole, ended.exit_code, complaint


def _pack_sources() -> bytes:
    top = source_folder()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in source_files(top):
            entry = tarfile.TarInfo(str(name))
            entry.size = (top / name).stat().st_size
            entry.mode = 0o644
            with (top / name).open("rb") as opened:
                archive.addfile(entry, opened)
    return packed.getvalue()
