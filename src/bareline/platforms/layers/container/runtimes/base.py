"""What every container runtime must say: how a container starts, is held, and is joined."""

from __future__ import annotations

import shlex
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class Image(StrEnum):
    """What a container shows as its root."""

    HOST = "host"
    BARELINE = "bareline"
    PATH = "path"
    ARCHIVE = "archive"
    STORED = "stored"

    @property
    def words(self) -> str:
        """Say it as in a sentence."""
        return _WORDS[self]


_WORDS = {
    Image.HOST: '"host"',
    Image.BARELINE: '"bareline"',
    Image.PATH: "path of a root folder or image file",
    Image.ARCHIVE: "path of an archive",
    Image.STORED: "name of an image in its store",
}
#: A root folder, however it came about.
FOLDERS = frozenset({Image.BARELINE, Image.PATH, Image.ARCHIVE})


class Expanded(str):
    """A word that the shell expands, and is not quoted therefore."""


#: The working directory, the number of the process that holds a container, a variable's names.
HERE = Expanded('"$PWD"')
HOLDER = Expanded('"$pid"')
#: Every variable's name as an option ``--env NAME``, for runtimes that pass none by themselves.
EVERY_NAME = Expanded("$(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/--env \\1/p')")
#: Inside: go to the directory, if it is there, and become the program. env(1) says of a program
#: that is not there what exec says of it outside.
_INSIDE = ("sh", "-c", 'cd -- "$1" 2>/dev/null; shift; exec env "$@"', "sh", HERE)
#: Between user namespaces the kernel refuses what UCX shares memory by: a rank's files through its
#: /proc, and reading its memory (CMA). Open MPI sees that and does without, UCX 1.13 ends the job.
_APART = """\
export UCX_POSIX_USE_PROC_LINK="${UCX_POSIX_USE_PROC_LINK:-n}"
case ,${UCX_TLS:=^cma}, in *,sm,*)
    UCX_TLS=$(printf %s ",$UCX_TLS," | sed 's/,sm,/,posix,sysv,/; s/^,//; s/,$//') ;;
esac
export UCX_TLS
"""
#: Inside: tell that it is there, and wait for the end of the standard input, thus of bareline.
_HOLD = ("sh", "-c", 'echo $$ >"$1" && echo ready && exec cat >/dev/null', "sh")


@dataclass(frozen=True, slots=True)
class Box:
    """What containers of a platform show of a node, and what they are called.

    `image`: path of the root, or the name of an image in the runtime's store.
    `kind`: what kind of image it is.
    `writable`, `readable`: folders of the node that are seen at their own paths; folders that lie
    in others come after these.
    `folder`: folder of the node, seen inside, where a holder leaves its number.
    `name`: name of the container where a service keeps it; different in every platform and run.
    """

    image: str
    kind: Image
    writable: tuple[str, ...]
    readable: tuple[str, ...]
    folder: str
    name: str

    @property
    def holder_file(self) -> Expanded:
        """The file with the number of the process that holds the node's container."""
        return Expanded(f'{shlex.quote(self.folder)}/"$(uname -n)"')


class Runtime(ABC):
    """A container runtime.

    `name`: what platform files call it.
    `title`: name for people.
    `program`: what has to be on a node.
    `images`: what it takes as a root.
    `joins`: whether programs can be started in a container that is there already.
    `joins_with`: programs beside its own that joining takes.
    `whole`: MPI's launcher has to be inside, too.
    `needs_places`: folders that are bound must have their place in the image before.
    `version_line`: prints its version.
    `before`: lines of a shell that set what it needs.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]
    images: ClassVar[frozenset[Image]]
    joins: ClassVar[bool] = True
    joins_with: ClassVar[tuple[str, ...]] = ()
    whole: ClassVar[bool] = False
    needs_places: ClassVar[bool] = False
    version_line: ClassVar[tuple[str, ...]]
    before: ClassVar[str] = ""

    @abstractmethod
    def start(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in a container of its own."""

    @abstractmethod
    def join(self, box: Box) -> Sequence[str]:
        """Give the words before a command that starts in the node's container."""

    def keep(self, box: Box) -> Sequence[str]:
        """Give the words that make the node's container, before what waits inside."""
        return self.start(box)

    def started(self, box: Box) -> list[str]:
        """Give the argument vector before a program that gets a container of its own."""
        return self._shell(_APART, (*self.start(box), *_INSIDE))

    def joined(self, box: Box) -> list[str]:
        """Give the argument vector before a program that joins the node's container."""
        return self._shell(
            f"read -r pid <{box.holder_file} || exit 125\n", (*self.join(box), *_INSIDE)
        )

    def held(self, box: Box) -> list[str]:
        """Give the command line that makes the node's container and holds it."""
        return self._shell("", (*self.keep(box), *_HOLD, box.holder_file))

    def image_id(self, box: Box) -> list[str]:
        """Give the command line that prints what identifies the image; none where nothing does."""
        if box.kind is Image.HOST:
            return []
        return ["sh", "-c", _HASH, "sh", box.image]

    def _shell(self, lines: str, words: Sequence[str]) -> list[str]:
        line = " ".join(word if isinstance(word, Expanded) else shlex.quote(word) for word in words)
        return ["sh", "-c", f'{self.before}{lines}exec {line} "$@"', "sh"]


#: Of a file its content; of a root folder names, sizes and modes, but not those of the places
#: where the node's own folders are seen.
_HASH = """\
if [ -d "$1" ]; then
    cd -- "$1" && find . -xdev \\( -path ./dev -o -path ./proc -o -path ./sys -o -path ./tmp \\) \\
        -prune -o -not -type d -printf '%P %s %m\\n' | LC_ALL=C sort | sha256sum
else
    sha256sum <"$1"
fi"""


def pairs(option: str, values: Sequence[str]) -> list[str]:
    """Write an option before each of some values."""
    return [word for value in values for word in (option, value)]
