"""Common parts of all platforms with real hosts: programs on nodes, servers, MPI, files."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from bareline.host.tools import tool_missing
from bareline.platforms.hosts.launchers.job import Node
from bareline.platforms.hosts.layers.container.options import Container
from bareline.platforms.hosts.layers.filesystem.mounted import Mounted
from bareline.platforms.hosts.nodes import Nodes
from bareline.platforms.hosts.process import (
    Finished,
    kill_marked,
    local_environment,
    run_process,
    signal_as_negative,
)
from bareline.platforms.hosts.scripts.housekeeping import Housekeeping, house_script, housekeeping
from bareline.platforms.hosts.scripts.node_channel import NodeChannel, conversation
from bareline.platforms.hosts.serving import serving
from bareline.platforms.hosts.workdir import check_storage, folder_name, remove_abandoned
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar, Server
from bareline.vocabulary.nodeset import fold
from bareline.vocabulary.platform import BRACE

if TYPE_CHECKING:
    from bareline.platforms.hosts.layers.container.running import RunningContainers

_PLACEHOLDER = re.compile(
    r"\{(native|workdir|nodes|server_host|server_port|server_data_port|brace)\}"
)
_NATIVE_PROGRAM = re.compile(r"\{native\}/([\w.-]+)")


def _words(command: Command) -> tuple[str, ...]:
    """Return the words of a command line, and of the server program's command line if any."""
    if command.server is None:
        return command.argv
    return command.argv + command.server.argv


def mentions(command: Command, placeholder: str) -> bool:
    """Return whether any word of a command contains a placeholder."""
    variables = tuple(value for _, value in command.env)
    sign = f"{{{placeholder}}}"
    return any(sign in text for text in _words(command) + variables)


def _native_programs(command: Command) -> list[str]:
    """Return the names of bareline's own programs that a command uses."""
    names: list[str] = []
    for word in _words(command):
        names += _NATIVE_PROGRAM.findall(word)
    return names


def expand(part: str, values: Mapping[str, str]) -> str:
    """Return a text with its placeholders replaced; the placeholder for "{" becomes "{"."""
    all_values = {BRACE.strip("{}"): "{", **values}
    return _PLACEHOLDER.sub(lambda match: all_values.get(match[1], ""), part)


class HostsAllocation(Nodes):
    """Nodes on which programs can be started one by one and as MPI jobs.

    A trial needs one script on each node, which does all housekeeping. If a node is lost during a
    trial, the trial ends with an error that names the node.
    """

    #: Whether the last word of `node_argv` is one shell line that contains the whole command.
    quotes: bool = False
    #: Whether MPI's launcher runs on this machine, which may then also have leftover processes.
    launches_here: bool = True
    #: Whether the nodes may be shared: programs that run there before a trial are then a caveat.
    others_use: bool = False
    #: The user's next step when a node was lost.
    lost_hint: str = "start again with `bareline continue`"
    #: Folder of the nodes for files that a killed MPI library leaves; "" if it leaves none.
    session: str = ""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = tuple(nodes)
        self.mounted: Mounted | None = None
        self.boxes: RunningContainers | None = None
        self._tools: dict[tuple[int, str], bool] = {}
        self._is_tidy = False

    def background(self, token: str) -> AbstractContextManager[None]:
        """Return a context in which the background work for one trial runs, such as neighbours."""
        return contextlib.nullcontext()

    def end_marked(self, token: str) -> None:
        """Kill all processes that have the mark of a trial, on every node."""
        kill_marked(token)

    def prepare(self, command: Command) -> None:
        if mentions(command, "native"):
            from bareline.build.native import require_programs

            folder = self.native_folder()
            require_programs(Path(folder), _native_programs(command))
            if self.boxes:
                self.boxes.check_programs(folder)

    @contextmanager
    def talking(self, nodes: Sequence[int]) -> Iterator[NodeChannel]:
        """Open the channel to the housekeeping script of a trial, on these nodes."""
        lines = self.talk_lines(nodes, house_script() + "keep_house\n", [])
        with conversation(lines, self.launch_environment()) as talk:
            yield talk

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        nodes = self._used_nodes(command, layout)
        token = dict(command.env).get(TRIAL_VARIABLE, "")
        values = self._values_of(command, layout, token)
        needed = command.requires
        if self.boxes:
            self._check_tools(nodes, command.requires)
            needed = ()  # a node itself needs nothing that its container has
        folders = (values["workdir"], self.session)
        try:
            with (
                self.talking(nodes) as talk,
                housekeeping(talk, self._shared_cores(nodes)) as house,
            ):
                house.begin(f"{TRIAL_VARIABLE}={token}", folders, needed, command.inputs)
                self._confirm_missing(house.missing())
                hidden = self._storage_caveats(house, values["workdir"], command.storage_bytes)
                with self._serving(command, layout, values, house) as all_values:
                    return self._launch(command, layout, all_values, timeout_s, house, hidden)
        finally:
            if token and self.launches_here:
                self.end_marked(token)

    def _used_nodes(self, command: Command, layout: Layout) -> list[int]:
        """Return the indices of the nodes that a trial needs, including the node of its server."""
        used = {self._index(command.node)}
        if command.mpi:
            used = set(range(layout.nodes))
        if command.server is not None:
            used.add(self._server_node(command.server, layout))
        return sorted(used)

    def _values_of(self, command: Command, layout: Layout, token: str) -> dict[str, str]:
        """Return the values of placeholders; "" for a folder that the trial does not need."""
        ranked = fold(node.name for node in self.nodes[: layout.nodes])
        values = {"native": "", "workdir": "", "nodes": ranked}
        if mentions(command, "native"):
            values["native"] = self.native_folder()
        needs_folder = command.inputs or command.outputs or mentions(command, "workdir")
        if needs_folder or command.mpi:
            self._tidy()
        if needs_folder:
            values["workdir"] = f"{self.work_folder()}/{folder_name(token)}"
        return values

    def _shared_cores(self, nodes: Sequence[int]) -> dict[str, int]:
        """Return the cores by name of node, if other programs may also use the nodes.

        The housekeeping of a trial looks for other programs on these nodes. The result is empty if
        only the trial uses the nodes.
        """
        if not self.others_use:
            return {}
        shared = [self.nodes[node] for node in nodes]
        return {node.name: node.cores for node in shared}

    def _check_tools(self, nodes: Sequence[int], tools: Sequence[str]) -> None:
        """Check that the containers of all nodes have the programs, or raise ToolMissing."""
        for node in nodes:
            for tool in tools:
                if not self.has_tool(node, tool):
                    raise tool_missing(tool, where=self.nodes[node].name)

    def _storage_caveats(self, house: Housekeeping, folder: str, needed_bytes: int) -> list[str]:
        """Check that a folder has enough free space on every node; return the storage's caveats."""
        caveats: list[str] = []
        if needed_bytes:
            for storage in house.storage():
                caveats += self.judge_storage(storage, folder, needed_bytes)
        return caveats

    def _confirm_missing(self, missing: Iterable[tuple[str, str]]) -> None:
        for name, tool in missing:
            raise tool_missing(tool, where=name)

    def _launch(
        self,
        command: Command,
        layout: Layout,
        values: Mapping[str, str],
        timeout_s: float,
        house: Housekeeping,
        hidden: Sequence[str],
    ) -> Output:
        argv = [expand(part, values) for part in command.argv]
        env = {name: expand(value, values) for name, value in command.env}
        line = self._line_of(command, layout, argv, env, values["workdir"] or None)
        # Launchers pass the variables to the ranks. Their own environment only gets the mark.
        mark = {name: value for name, value in env.items() if name == TRIAL_VARIABLE}
        house.start()
        with self.background(mark.get(TRIAL_VARIABLE, "")):
            launcher_env = self.launch_environment(mark)
            ended = run_process(line, env=launcher_env, timeout_s=timeout_s, lost=house.lost)
        if ended.exit_code != 0 or ended.timed_out:
            house.raise_lost(self.lost_hint)
            self.explain_failure(ended.stderr)
        house.stop()
        files: Mapping[str, str] = {}
        cut = ended.cut
        if command.outputs and ended.exit_code == 0:
            first = 0 if command.mpi else self._index(command.node)
            node = self.nodes[first].name
            files = house.fetch(node, command.outputs)
            cut = (*cut, *house.left_out(node, command.outputs))
        started = tuple(line)
        if self.quotes and not command.mpi:
            started = (*line[:-1], *argv)
        return ended.output(
            started,
            stderr=self.clean_stderr(ended.stderr),
            exit_code=self.exit_code_of(command, ended),
            files=MappingProxyType(files),
            caveats=tuple(dict.fromkeys((*house.caveats(), *hidden))),
            cut=cut,
        )

    def _line_of(
        self,
        command: Command,
        layout: Layout,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str | None,
    ) -> list[str]:
        """Return the local command line that starts a trial's program."""
        if not command.mpi:
            return self.node_argv(self._index(command.node), self.inside(argv), env, cwd)
        if self.boxes and self.boxes.whole:
            return self.inside(self.mpi_argv(argv, layout, env, cwd))
        return self.mpi_argv(self.inside(argv), layout, env, cwd)

    def launch_environment(self, mark: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of the local program that starts a trial.

        - `mark`: the variable that marks the trial's processes.
        """
        return local_environment(mark)

    def explain_failure(self, stderr: str) -> None:
        """Raise an error if a launch's error output shows that the platform caused the failure."""

    def exit_code_of(self, command: Command, ended: Finished) -> int:
        """Return a program's exit code, from the exit code of the process that started it."""
        # A container's runtime reports the death of its program by a signal as a shell does.
        if self.boxes:
            return signal_as_negative(ended.exit_code)
        return ended.exit_code

    def inside(self, argv: Sequence[str]) -> list[str]:
        """Return the command that starts a program, in a container if the nodes have any."""
        return self.boxes.enter(argv) if self.boxes else list(argv)

    @contextmanager
    def _serving(
        self, command: Command, layout: Layout, values: dict[str, str], house: Housekeeping
    ) -> Iterator[dict[str, str]]:
        server = command.server
        if server is None:
            yield values
            return
        node = self._server_node(server, layout)
        env = dict(command.env)
        located = {**values, "server_host": self.nodes[node].address}

        def line(chosen: Mapping[str, str]) -> list[str]:
            all_values = {**located, **chosen}
            argv = [expand(part, all_values) for part in server.argv]
            return self.node_argv(node, self.inside(argv), env)

        ports = house.ports(self.nodes[node].name)
        starter_env = self.server_environment(env)
        with serving(
            server.argv[0], line, ports, env=starter_env, clean=self.clean_stderr
        ) as chosen:
            yield {**located, **chosen}

    def node_facts(self) -> dict[str, Scalar]:
        """Return the facts of every node, gathered by a script; see `bareline.facts.gather`."""
        from bareline.facts.gather import gather, script

        folder = self.work_folder()
        arguments = [(node.address, folder) for node in self.nodes]
        answers = self.on_every_node(script(), arguments)
        pairs = zip(self.nodes, answers, strict=True)
        return gather((node.name, answer.stdout, answer.stderr) for node, answer in pairs)

    def sha256_of(self, path: str) -> str:
        ended = self.on_node(0, ["sha256sum", "--", path])
        if ended.exit_code != 0:
            return ""
        checksum, _, _ = ended.stdout.partition(" ")
        return checksum

    def _server_node(self, server: Server, layout: Layout) -> int:
        """Return the index of a server's node; a `server.node` of -1 is the layout's last node."""
        return server.node if server.node >= 0 else layout.nodes + server.node

    def clean_stderr(self, text: str) -> str:
        """Return a program's error output without lines that the connection to the node adds."""
        return text

    def has_tool(self, node: int, tool: str) -> bool:
        """Return whether a program is on a node's path; the answer is cached."""
        if (node, tool) not in self._tools:
            look = self.inside(["sh", "-c", 'command -v "$1"', "sh", tool])
            self._tools[node, tool] = self.on_node(node, look).exit_code == 0
        return self._tools[node, tool]

    def _tidy(self) -> None:
        if not self._is_tidy:
            remove_abandoned(self, self.work_folder())
            self._is_tidy = True

    def judge_storage(self, storage: str, folder: str, needed_bytes: int) -> tuple[str, ...]:
        """Check the free space of a folder; return the caveats of the storage layers.

        - `storage`: the output of the script `look_at_storage` on a node.

        Raises PlatformError: the folder has less free space than needed.
        """
        caveats = check_storage(storage, folder, needed_bytes)
        if self.mounted is None:
            return caveats
        return (*caveats, *self.mounted.caveats)

    def _index(self, node: int) -> int:
        return node if node >= 0 else len(self.nodes) + node

    def caveats(self, layout: Layout) -> tuple[str, ...]:
        """Return a caveat if a node has more ranks and threads than cores."""
        return ("oversubscribed",) if self.too_small(layout) else ()

    def too_small(self, layout: Layout) -> tuple[Node, ...]:
        """Return the nodes of a layout that have fewer cores than its ranks and threads need."""
        used = self.nodes[: layout.nodes]
        return tuple(node for node in used if node.cores < layout.cores_per_node)


@contextmanager
def contained(
    options: Container | None, nodes: HostsAllocation, cache: Path, where: str
) -> Iterator[None]:
    """Start the programs of trials in containers as long as the context is open.

    Raises PlatformError: the containers do not start, or do not fit the nodes' MPI library.
    """
    if options is None:
        yield
        return
    from bareline.platforms.hosts.layers.container.running import RunningContainers

    boxes = RunningContainers(options, nodes, cache, where)
    try:
        boxes.enter([])
        nodes.boxes = boxes
        yield
    finally:
        nodes.boxes = None
        boxes.close()
