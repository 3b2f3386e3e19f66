"""What all platforms of real hosts share: start programs on nodes, servers, MPI, files.

A platform type says how an argument vector gets onto a node and how MPI is launched; this module
does the rest in one way for all of them.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from bareline.facts import read_steal, steal_caveats
from bareline.host.tools import tool_missing
from bareline.platforms.kept import FETCH, cut_of_file, kind_told
from bareline.platforms.launchers.job import Node
from bareline.platforms.layers.container.boxes import Boxes
from bareline.platforms.layers.container.options import Container
from bareline.platforms.layers.filesystem.mounted import Mounted
from bareline.platforms.nodes import Nodes
from bareline.platforms.process import Finished, kill_marked, local_environment, run_process
from bareline.platforms.serving import AskedPorts, Ports, serving
from bareline.platforms.shell import signal_as_negative
from bareline.platforms.workdir import (
    LOOK_AT_STORAGE,
    OWN_FOLDER,
    check_storage,
    folder_name,
    remove_abandoned,
)
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Server
from bareline.vocabulary.nodeset import fold

_PLACEHOLDER = re.compile(r"\{(native|workdir|nodes|server_host|server_port|server_data_port)\}")


def needs_folder(command: Command) -> bool:
    """Tell whether a command wants a working directory of its own."""
    return bool(command.inputs or command.outputs or mentions(command, "workdir"))


def mentions(command: Command, placeholder: str) -> bool:
    """Tell whether a command has a placeholder somewhere."""
    parts = command.argv + (command.server.argv if command.server else ())
    parts += tuple(value for _, value in command.env)
    return any(f"{{{placeholder}}}" in part for part in parts)


def expand(part: str, values: Mapping[str, str]) -> str:
    """Put values in the place of placeholders."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], ""), part)


_HOUSEKEEPING_S = 60.0
_LOOK = ("sh", "-c", f'{LOOK_AT_STORAGE}look_at_storage "$1"', "sh")


class HostsAllocation(Nodes):
    """Nodes on which programs can be started one by one and as MPI jobs."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)
        #: The file system that was mounted for the trials, where the options ask for one.
        self.mounted: Mounted | None = None
        #: The containers in which programs of trials are started, where the options ask for some.
        self.boxes: Boxes | None = None
        self._tools: dict[tuple[int, str], bool] = {}
        self._is_tidy = False

    def beside(self, token: str) -> AbstractContextManager[None]:
        """Do what has to be done on the nodes while a trial runs, and at no other time.

        - `token`: the trial's mark.
        """
        return contextlib.nullcontext()

    def end_marked(self, token: str) -> None:
        """Kill what carries a trial's mark on any node."""
        kill_marked(token)

    def prepare(self, command: Command) -> None:
        """Build bareline's own programs where a command needs them."""
        if mentions(command, "native"):
            folder = self.native_folder()
            if self.boxes:
                self.boxes.check_programs(folder)

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command; see `Allocation.run`."""
        used = range(layout.nodes) if command.mpi else (self._index(command.node),)
        self._check_tools(command, used)
        token = dict(command.env).get(TRIAL_VARIABLE, "")
        try:
            with self._workdir(command, token, used) as workdir:
                values = {"native": "", "workdir": workdir, "nodes": self.names_of(layout)}
                if mentions(command, "native"):
                    values["native"] = self.native_folder()
                told = (self.on_node(node, [*_LOOK, workdir]).stdout for node in used)
                hidden = self._storage_caveats(command, workdir, told)
                if command.server is None:
                    output = self._execute(command, layout, values, timeout_s)
                else:
                    node = self.server_node(command.server, layout)
                    self._check_tools(command, (node,))
                    env, ports = dict(command.env), AskedPorts(partial(self.listening_ports, node))
                    with self.serving(command.server, ports, values, node=node, env=env) as known:
                        output = self._execute(command, layout, known, timeout_s)
                return replace(output, caveats=(*output.caveats, *hidden))
        finally:
            if token:
                self.end_marked(token)

    def _execute(
        self, command: Command, layout: Layout, values: Mapping[str, str], timeout_s: float
    ) -> Output:
        argv = [expand(part, values) for part in command.argv]
        env = {name: expand(value, values) for name, value in command.env}
        cwd = values["workdir"] or None
        line = self.trial_argv(command, argv, layout, env, cwd)
        watched = 0 if command.mpi else self._index(command.node)
        before = read_steal(self, watched)
        # Launchers hand the variables to the ranks; they themselves carry nothing but the mark.
        mark = {name: value for name, value in env.items() if name == TRIAL_VARIABLE}
        with self.beside(mark.get(TRIAL_VARIABLE, "")):
            done = run_process(line, env=local_environment(mark), timeout_s=timeout_s)
        caveats = steal_caveats(before, read_steal(self, watched))
        files, cut = {}, list(done.cut)
        if command.outputs and done.exit_code == 0:
            node = 0 if command.mpi else command.node
            for name in command.outputs:
                files[name], left_out = self._fetch(node, name, f"{cwd}/{name}")
                cut += left_out
        # A container's runtime tells the death of its program by a signal as a shell does.
        exit_code = signal_as_negative(done.exit_code) if self.boxes else done.exit_code
        found = {"files": MappingProxyType(files), "caveats": caveats, "cut": tuple(cut)}
        return done.output(line, exit_code=exit_code, **found)

    def inside(self, argv: Sequence[str]) -> list[str]:
        """Give the command that starts a program of a trial: in its container, if it has one."""
        return self.boxes.enter(argv) if self.boxes else list(argv)

    def trial_argv(
        self,
        command: Command,
        argv: Sequence[str],
        layout: Layout,
        env: Mapping[str, str],
        cwd: str | None,
    ) -> list[str]:
        """Give the local command line of a trial's command, whose arguments are expanded."""
        if not command.mpi:
            return self.node_argv(self._index(command.node), self.inside(argv), env, cwd)
        if self.boxes and self.boxes.whole:
            return self.inside(self.mpi_argv(argv, layout, env, cwd))
        return self.mpi_argv(self.inside(argv), layout, env, cwd)

    @contextmanager
    def serving(
        self,
        server: Server,
        ports: Ports,
        values: Mapping[str, str],
        *,
        node: int,
        env: Mapping[str, str],
    ) -> Iterator[dict[str, str]]:
        """Give the placeholders' values while a command's server listens on a node.

        - `env`: what the server gets beside the node's own environment.
        """
        known = {**values, "server_host": self.nodes[node].address}

        def line(chosen: Mapping[str, str]) -> list[str]:
            argv = [expand(part, {**known, **chosen}) for part in server.argv]
            return self.node_argv(node, self.inside(argv), env)

        carried = self.server_environment(env)
        with serving(server.argv[0], line, ports, env=carried, clean=self.clean_stderr) as chosen:
            yield {**known, **chosen}

    def sha256_of(self, path: str) -> str:
        """Give the checksum of a file on the first node; "" where that is none."""
        done = self.on_node(0, ["sha256sum", "--", path])
        return done.stdout.split()[0] if done.exit_code == 0 else ""

    def names_of(self, layout: Layout) -> str:
        """Name the nodes that get ranks, in their order: ``node[001-128]``."""
        return fold(node.name for node in self.nodes[: layout.nodes])

    def server_node(self, server: Server, layout: Layout) -> int:
        """Give the node of a server: -1 is the last of the layout, whatever others there are."""
        return server.node if server.node >= 0 else layout.nodes + server.node

    def clean_stderr(self, text: str) -> str:
        """Leave out what the way to the node adds to a program's own words."""
        return text

    def has_tool(self, node: int, tool: str) -> bool:
        """Tell whether a program is on a node's path; asked once."""
        key = (node, tool)
        if key not in self._tools:
            look = self.inside(["sh", "-c", 'command -v "$1"', "sh", tool])
            found = self.on_node(node, look)
            self._tools[key] = found.exit_code == 0
        return self._tools[key]

    def _check_tools(self, command: Command, used: Sequence[int] | range) -> None:
        for node in used:
            for tool in command.requires:
                if not self.has_tool(node, tool):
                    raise tool_missing(tool, where=self.nodes[node].name)

    @contextmanager
    def _workdir(self, command: Command, token: str, used: Sequence[int] | range) -> Iterator[str]:
        """Make the trial's working directory where one is needed, and remove it."""
        if not needs_folder(command):
            yield ""
            return
        folder = f"{self.work_folder()}/{folder_name(token)}"
        try:
            self._tidy()
            for node in used:
                self._must(node, ["sh", "-c", f'{OWN_FOLDER}own_folder "$1"', "sh", folder])
                for name, text in command.inputs:
                    self._must(node, ["tee", f"{folder}/{name}"], stdin=text)
            yield folder
        finally:
            for node in used:
                with contextlib.suppress(PlatformError):
                    self.on_node(node, ["rm", "-rf", "--", folder])

    def _tidy(self) -> None:
        """Remove, once, what killed barelines left in the folder of the working directories."""
        if not self._is_tidy:
            remove_abandoned(self, self.work_folder())
            self._is_tidy = True

    def _storage_caveats(
        self, command: Command, folder: str, told: Iterable[str]
    ) -> tuple[str, ...]:
        """Check the space for a command that measures storage; name what hides the device.

        - `told`: what `LOOK_AT_STORAGE` prints on each node; not asked for without need.
        """
        if not command.storage_bytes:
            return ()
        found = [self.judge_storage(each, folder, command.storage_bytes) for each in told]
        return tuple(dict.fromkeys(code for codes in found for code in codes))

    def judge_storage(self, told: str, folder: str, needed_bytes: int) -> tuple[str, ...]:
        """Check the free space of a folder; name what stands between it and a device.

        Raises PlatformError: there is less free than needed.
        """
        found = check_storage(told, folder, needed_bytes)
        return (*found, *(self.mounted.caveats if self.mounted else ()))

    def _must(self, node: int, argv: Sequence[str], stdin: str | None = None) -> Finished:
        failed = f"'{' '.join(argv)}' failed"
        return self.on_node(node, argv, stdin=stdin).must(failed, where=self.nodes[node].name)

    def _fetch(self, node: int, name: str, path: str) -> tuple[str, tuple[str, ...]]:
        """Bring a file back, and say what is left out of it; what is not there is empty."""
        done = self.on_node(node, ["sh", "-c", FETCH, "sh", path])
        if done.timed_out:
            return "", (f"{name} could not be read within {_HOUSEKEEPING_S:.0f} s",)
        return done.stdout, cut_of_file(name, kind_told(done.stderr))

    def _index(self, node: int) -> int:
        """Turn -1, the last node, into its index."""
        return node if node >= 0 else len(self.nodes) + node

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Name oversubscription: more ranks and threads on a node than it has cores."""
        busy = layout.ranks_per_node * layout.threads_per_rank
        over = any(busy > node.cores for node in self.nodes[: layout.nodes])
        return ("oversubscribed",) if over else ()


@contextmanager
def contained(
    options: Container | None, nodes: HostsAllocation, cache: Path, where: str
) -> Iterator[None]:
    """Have the programs of trials started in containers while the context lasts.

    Raises PlatformError: they do not come up, or do not fit what is outside.
    """
    if options is None:
        yield
        return
    boxes = Boxes(options, nodes, cache, where)
    try:
        boxes.enter([])
        nodes.boxes = boxes
        yield
    finally:
        nodes.boxes = None
        boxes.close()
