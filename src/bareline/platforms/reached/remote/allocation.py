"""Trials on nodes that are reached through another program: ssh, or a step of a batch system."""

from __future__ import annotations

import shutil
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from bareline.build.native import ensure_native
from bareline.build.record import NativeBuild, node_builds
from bareline.build.sources import source_folder, sources_key
from bareline.host.cache import scratch_folder
from bareline.platforms.base import Context, Platform
from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Node
from bareline.platforms.hosts.process import Finished, local_environment, signal_as_negative
from bareline.platforms.hosts.scripts.description import CommonSet, common_set, number_of, text_of
from bareline.platforms.hosts.scripts.node_channel import conversation, script
from bareline.platforms.hosts.workdir import session_folder
from bareline.platforms.reached.remote.native import NativePrograms, Way, build_there
from bareline.platforms.reached.remote.software import loader, try_software
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar
from bareline.vocabulary.nodeset import nodes_text
from bareline.vocabulary.platform import O_co, PlatformSpec
from bareline.vocabulary.units import count, listing


class RemoteAllocation(HostsAllocation):
    """Nodes that are reached through another program, and that other users may also use."""

    quotes = True
    launches_here = False
    others_use = True
    lost_hint = "the next trial tries to reach it again"

    def __init__(
        self,
        nodes: Sequence[Node],
        *,
        cache: Path,
        way: Way,
        native_target: str,
        native_here: Callable[[], Path] | None = None,
        events: list[str] | None = None,
    ) -> None:
        self._events = [] if events is None else events
        #: Words before every command that load its modules.
        self.loader: list[str] = []
        self._common: CommonSet | None = None
        self._named_too_small: set[Layout] = set()
        self._native = NativePrograms(
            nodes=self,
            way=way,
            target=native_target,
            cache=cache,
            tell=self._events.append,
            made=native_here,
        )
        super().__init__(nodes)

    @property
    @abstractmethod
    def mpi(self) -> MpiInstallation:
        """The nodes' MPI library."""

    def on_every_node(self, text: str, arguments: Sequence[Sequence[str]]) -> Sequence[Finished]:
        """Run a shell script on all nodes, in one step of a batch system if there is one."""
        alike: dict[tuple[str, ...], list[int]] = {}
        for node, of_node in enumerate(arguments):
            # A node whose name is its address finds that by itself, so that all lines are equal.
            words = tuple("" if word == self.nodes[node].name else word for word in of_node)
            alike.setdefault(words, []).append(node)
        everywhere = script("answers") + script("everywhere")
        lines: dict[tuple[str, ...], Sequence[str]] = {}
        for words, nodes in alike.items():
            lines |= self.talk_lines(nodes, everywhere, [text, *words])
        finished = []
        with conversation(lines, self.launch_environment()) as talk:
            talk.wait("told", 120.0)
            for name in [node.name for node in self.nodes]:
                code, _, content = talk.answer(name, "told").partition(" ")
                answer = text_of(content, name, "the node's answer")
                exit_code = number_of(code, name, "exit code")
                finished.append(Finished(answer, "", exit_code, 0.0, False))
        return finished

    def compare(self, flags: Mapping[str, Sequence[str]]) -> None:
        """Limit programs to the common instruction set of the nodes, if their processors differ."""
        self._common = common_set(flags)
        if self._common is not None:
            self._events.append(str(self._common))

    def load(self, software: Sequence[str]) -> None:
        """Load modules and environments before every command from now on."""
        self.loader = []
        try_software(self, software)
        self.loader = loader(software)

    def native_folder(self) -> str:
        return self._native.folder()

    def events(self) -> tuple[str, ...]:
        events = tuple(self._events)
        self._events.clear()
        return events

    def facts(self) -> Mapping[str, Scalar]:
        facts = self.node_facts()
        if self._common is not None:
            facts["cpu.common_set"] = self._common.chosen.name
        facts |= self.boxes.facts() if self.boxes else {}
        if mpi := self.found_mpi():
            facts |= {"mpi.flavour": mpi.flavour, "mpi.version": mpi.version}
        return facts

    def programs_folder(self) -> str:
        return self._native.lies_in

    def helpers_s(self) -> float | None:
        return None

    def repair(self) -> None:
        """Check that every node can be reached; called before each trial."""

    def watching(self) -> AbstractContextManager[None]:
        """Return a context that watches the nodes during a trial, if necessary."""
        return nullcontext()

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        self.repair()
        self._name_too_small(layout)
        if self._common is not None:
            forced = tuple(self._common.variables.items())
            command = replace(command, env=(*forced, *command.env))
        token = dict(command.env).get(TRIAL_VARIABLE, "")
        self.session = session_folder(token) if command.mpi and token else ""
        try:
            with self.watching():
                return super().run(command, layout, timeout_s=timeout_s)
        finally:
            if self.session and self.launches_here:
                shutil.rmtree(self.session, ignore_errors=True)

    def _name_too_small(self, layout: Layout) -> None:
        """Record the nodes that have too few cores for a layout, once for each layout."""
        small = self.too_small(layout)
        if not small or layout in self._named_too_small:
            return
        self._named_too_small.add(layout)
        names: dict[int, list[str]] = {}
        for node in small:
            names.setdefault(node.cores, []).append(node.name)
        cores = "; ".join(
            f"{nodes_text(those)} {'has' if len(those) == 1 else 'have'} {count(cores, 'core')}"
            for cores, those in names.items()
        )
        ranks = count(layout.ranks_per_node, "rank")
        if layout.threads_per_rank > 1:
            ranks += f" of {layout.threads_per_rank} threads"
        need = f"{ranks} on each node need {count(layout.cores_per_node, 'core')}"
        self._events.append(f"{need}, and {cores}: they share cores there")

    def _confirm_missing(self, missing: Iterable[tuple[str, str]]) -> None:
        """Raise ToolMissing for a program that is missing even with a node's modules loaded."""
        indices = {node.name: index for index, node in enumerate(self.nodes)}
        without = (
            pair
            for pair in missing
            if not self.loader or not self.has_tool(indices[pair[0]], pair[1])
        )
        super()._confirm_missing(without)

    def server_environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Return bareline's own environment, because a server's variables are set on its node.

        The local program that starts the server therefore has no mark of the trial.
        """
        return local_environment()

    def exit_code_of(self, command: Command, ended: Finished) -> int:
        if command.mpi:
            return self.job_exit_code(ended.exit_code, ended.stderr)
        return signal_as_negative(ended.exit_code)

    def job_exit_code(self, code: int, stderr: str) -> int:
        """Return the exit code of an MPI job from its launcher's exit code and error output."""
        return code

    def launch_environment(self, mark: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return bareline's own environment, because the trial's mark is set on the nodes."""
        return local_environment()


class RemotePlatform(Platform[O_co]):
    """A type of platform whose nodes can build bareline's own programs."""

    @classmethod
    def build(cls, spec: PlatformSpec[O_co], cache: Path) -> NativeBuild:
        with scratch_folder(spec.name) as scratch:
            platform = cls(spec, Context(scratch, cache))
            with platform.acquire(Layout()) as nodes:
                return build_there(platform.hosts_of(nodes))

    @classmethod
    def build_ahead(cls, spec: PlatformSpec[O_co], cache: Path) -> str:
        """Build for this machine's MPI library, because the nodes mostly have the same library."""
        options: Any = spec.options
        try:
            if not options.wanted:
                ensure_native(find_mpi(options.mpi), cache)
                return ""
            why = "modules bring the MPI library"
        except PlatformError as error:
            why = str(error)
        if options.native == "shared" and (
            made := node_builds(cache, sources_key(source_folder()))
        ):
            return f"nodes have built before ({listing(made)}): nothing is built where that fits"
        return (
            f"nothing is built before nodes are reserved ({why}): one node builds while all wait; "
            f"`bareline build --on {spec.name}` does it before, with one node"
        )

    def hosts_of(self, nodes: Any) -> RemoteAllocation:
        """Return the hosts of the acquired nodes."""
        hosts: RemoteAllocation = nodes
        return hosts
