"""The housekeeping of one trial by scripts on nodes; one script may serve several nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from bareline.facts.steal import parse_stat, steal_caveats
from bareline.platforms.hosts.output_limit import MOST_BYTES, cut_of_file
from bareline.platforms.hosts.scripts.description import number_of, text_of
from bareline.platforms.hosts.scripts.node_channel import NodeChannel, script
from bareline.platforms.hosts.serving import Ports
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import nodes_text

_ORDER_S = 20.0
#: A trace of some MiB is compressed on a node that may be busy.
_FETCH_S = 60.0
_AFTER_FAILURE_S = 5.0
#: A node's report about a file: its size in bytes, or "odd" if it is not a regular file.
_KIND = re.compile(r"\d{1,18}|odd")
_HEXADECIMAL = re.compile(r"[0-9A-Fa-f]{1,8}")


def house_script() -> str:
    """Return the script that does the housekeeping on nodes: the function ``keep_house``."""
    names = ("end_marked", "own_folder", "keep_file", "look_at_storage", "housekeeper")
    parts = [script("answers"), f"most_bytes={MOST_BYTES}\n"]
    parts += map(script, names)
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Housekeeping:
    """The housekeeping of a trial on its nodes.

    - `cores`: number of cores by name of node, for the nodes that other programs may also use.
    """

    talk: NodeChannel
    cores: Mapping[str, int]

    def begin(
        self,
        mark: str,
        folders: tuple[str, str],
        requires: Sequence[str],
        inputs: Sequence[tuple[str, str]],
    ) -> None:
        """Wait until every node is ready for the trial and has its files.

        - `folders`: folders that the nodes make, and remove at the end: the working directory, and
          a folder for files that a killed MPI library leaves; "" for a folder that is not needed.
        """
        orders = [f"trial {mark}"]
        kinds = zip(("folder", "session"), folders, strict=True)
        orders += [f"{kind} {folder}" for kind, folder in kinds if folder]
        orders += [f"need {tool}" for tool in requires]
        self.talk.take_turn("\n".join(orders))
        for name, text in inputs:
            content = text.encode()
            self.talk.tell(f"input {name} {len(content)}", content)
        self.talk.tell("begin")
        self.talk.wait("begun", 60.0)
        for node, answers in self.talk.said.items():
            for reason in answers.get("failed", ()):
                raise PlatformError(f"the node cannot prepare the trial: {reason}", where=node)

    def missing(self) -> Iterator[tuple[str, str]]:
        """Yield a pair of node and program for each required program that a node lacks."""
        for node, answers in self.talk.said.items():
            for tool in answers.get("missing", ()):
                yield node, tool

    def storage(self) -> list[str]:
        """Return every node's report on the file system of the working directory."""
        self.talk.tell("storage")
        self.talk.wait("storage", _ORDER_S)
        return [self.talk.answer(node, "storage") for node in self.talk.nodes]

    def start(self) -> None:
        """Read the counters of the nodes, immediately before the trial."""
        self.talk.tell("start")
        self.talk.wait("started", _ORDER_S)

    def stop(self) -> None:
        """Read the counters of the nodes, immediately after the trial."""
        self.talk.tell("stop")
        self.talk.wait("stopped", _ORDER_S)

    def caveats(self) -> tuple[str, ...]:
        """Return caveats about disturbances of the trial: stolen time, or other busy programs."""
        caveats: list[str] = []
        for node, answers in self.talk.said.items():
            readings = [parse_stat(text) for text in answers.get("stat", ())]
            if readings:
                caveats += steal_caveats(readings[0], readings[-1])
            load, _, _ = self.talk.answer(node, "load").partition("/")
            running = number_of(load, node, "load") - 1  # the script itself
            if node in self.cores and running >= max(1.0, 0.25 * self.cores[node]):
                caveats.append("busy-machine")
        return tuple(dict.fromkeys(caveats))

    def ports(self, node: str) -> Ports:
        """Return the TCP ports of a node that were in use when the trial began."""
        taken = set()
        for address in self.talk.answer(node, "ports").split():
            _, _, port = address.rpartition(":")
            if _HEXADECIMAL.fullmatch(port):
                taken.add(int(port, 16))

        def listens(port: int) -> bool:
            self.talk.drop("listening")
            self.talk.tell_one(node, f"listen {port}")
            self.talk.wait("heard", _ORDER_S, [node])
            self.talk.drop("heard")
            return "listening" in self.talk.said[node]

        return Ports(lambda: taken, listens)

    def fetch(self, node: str, names: Sequence[str]) -> dict[str, str]:
        """Return files of the working directory, by name; the text of a missing file is empty."""
        for name in names:
            self.talk.tell_one(node, f"file {name}")
        self.talk.drop("stopped")
        self.talk.tell("stop")
        self.talk.wait("stopped", _FETCH_S)
        texts = dict.fromkeys(names, "")
        for line in self.talk.said[node].get("file", ()):
            name, _, content = line.partition(" ")
            if name not in texts:
                raise PlatformError(
                    f"the node sends the file '{name}', which was not requested", where=node
                )
            texts[name] = text_of(content, node, f"the file '{name}'")
        return texts

    def left_out(self, node: str, names: Sequence[str]) -> tuple[str, ...]:
        """Return descriptions of the parts that are missing in fetched files."""
        omissions: list[str] = []
        for line in self.talk.said[node].get("kind", ()):
            name, _, kind = line.partition(" ")
            if name in names and _KIND.fullmatch(kind):
                omissions += cut_of_file(name, kind)
        return tuple(omissions)

    def end(self, timeout_s: float = _ORDER_S) -> None:
        """End the trial's processes, and remove its directory, on the nodes that still run."""
        self.talk.wait("ended", timeout_s, self.talk.tell_living("end"))

    def lost(self) -> bool:
        """Return whether the connection to a node is lost."""
        return self.talk.lost() is not None

    def raise_lost(self, hint: str) -> None:
        """Raise an error that names the lost node, if a node was lost."""
        lost = self.talk.lost()
        if lost is not None:
            raise PlatformError(
                f"the node was lost during the trial: {lost.reason()}",
                where=nodes_text(sorted(lost.names)),
                hint=hint,
            )


@contextmanager
def housekeeping(talk: NodeChannel, cores: Mapping[str, int]) -> Iterator[Housekeeping]:
    """Yield the housekeeping of a trial, and end it with the context."""
    house = Housekeeping(talk, cores)
    try:
        yield house
    except BaseException:
        # The first error is raised. A node that hangs has already had its time. A node that is only
        # slow ends its work by itself when the connection ends.
        with suppress(PlatformError):
            house.end(_AFTER_FAILURE_S)
        raise
    house.end()
