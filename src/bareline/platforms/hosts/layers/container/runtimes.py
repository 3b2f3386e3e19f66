"""A table of container runtimes, with the command lines that start or join a container.

Plug-ins install a `Runtime` under the entry-point group ``bareline.runtimes``.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import chain

from bareline.vocabulary.plugins import brought, checked, named


class ImageKind(StrEnum):
    """The kinds of root folder of a container."""

    HOST = "host"
    BARELINE = "bareline"
    PATH = "path"
    ARCHIVE = "archive"
    STORED = "stored"

    @property
    def words(self) -> str:
        """Return the name of the kind for a sentence."""
        return _WORDS.get(self, f'"{self}"')


_WORDS = {
    ImageKind.PATH: "path of a root folder or image file",
    ImageKind.ARCHIVE: "path of an archive",
    ImageKind.STORED: "name of an image in its store",
}
#: All kinds of image that are a root folder when the container starts.
FOLDERS = frozenset({ImageKind.BARELINE, ImageKind.PATH, ImageKind.ARCHIVE})


class Expanded(str):
    """A word that the shell expands, and which is therefore not quoted."""


#: The working directory, the process that keeps a container open, a variable's names.
HERE = Expanded('"$PWD"')
HOLDER = Expanded('"$pid"')
#: An option ``--env NAME`` for every variable, for runtimes that pass no variables by default.
EVERY_NAME = Expanded("$(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/--env \\1/p')")
#: The user in the container is the user outside. Root is the same user by default, and Podman
#: refuses the option for root.
KEEPING_USER = Expanded('$([ "$(id -u)" = 0 ] || echo --userns=keep-id)')
#: In the container: change to the directory, if it exists, and become the program. env(1) reports a
#: missing program as exec does outside.
_INSIDE = ("sh", "-c", 'cd -- "$1" 2>/dev/null; shift; exec env "$@"', "sh", HERE)
#: UCX shares memory through the files of a rank in /proc, and by reading the rank's memory (CMA).
#: The kernel refuses both between user namespaces. Open MPI then uses another way, but UCX 1.13
#: ends the job.
_APART = """\
export UCX_POSIX_USE_PROC_LINK="${UCX_POSIX_USE_PROC_LINK:-n}"
case ,${UCX_TLS:=^cma}, in *,sm,*)
    UCX_TLS=$(printf %s ",$UCX_TLS," | sed 's/,sm,/,posix,sysv,/; s/^,//; s/,$//') ;;
esac
export UCX_TLS
"""
#: In the container: report that it runs, and wait for the end of standard input, which is the end
#: of bareline.
_HOLD = ("sh", "-c", 'echo $$ >"$1" && echo ready && exec cat >/dev/null', "sh")


@dataclass(frozen=True, slots=True)
class Box:
    """The image, the visible folders and the name of a platform's containers on a node.

    - `image`: path of the root folder, or the name of an image in the runtime's store.
    - `writable`, `readable`: folders of the node that are visible at the same paths; outer folders
      come first.
    - `folder`: folder of the node, also visible inside, in which the process that keeps the
      container open writes its number.
    - `name`: name of the container, if a service manages it. Every platform in every run has a
      different name.
    """

    image: str
    kind: ImageKind
    writable: tuple[str, ...]
    readable: tuple[str, ...]
    folder: str
    name: str

    @property
    def holder_file(self) -> Expanded:
        """The file that contains the number of the process that keeps the node's container open."""
        return Expanded(f'{shlex.quote(self.folder)}/"$(uname -n)"')


#: Placeholders of the options that make folders visible, and of the words for the image.
SHOWN = "{folders}"
IMAGE = "{image}"
#: The hash of a file's content, or of the names, sizes and modes in a root folder, except for the
#: folders over which folders of the node are mounted.
_HASH = """\
if [ -d "$1" ]; then
    cd -- "$1" && find . -xdev \\( -path ./dev -o -path ./proc -o -path ./sys -o -path ./tmp \\) \\
        -prune -o -not -type d -printf '%P %s %m\\n' | LC_ALL=C sort | sha256sum
else
    sha256sum <"$1"
fi"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """A container runtime.

    - `images`: the kinds of root folder that the runtime accepts.
    - `start`: the words that are put before a command to start it in a new container.
    - `join`: the words that are put before a command to start it in the node's container; empty if
      the runtime has no way to join a container.
    - `read_only`: the words that make a folder of the node, ``{}``, visible at the same path.
    - `writable`: the same as `read_only` for a folder that programs may write to.
    - `root`: the words that select an image that is a path.
    - `stored`: the words that select an image of the runtime's store.
    - `stored_id`: the command line that prints the identity of an image of the runtime's store.
    - `joins_with`: further programs that are needed to join a container.
    - `whole`: whether MPI's launcher also has to be in the container, because the container has a
      separate kernel.
    - `named`: whether the node's container has a name.
    - `instance`: whether the node's container is an instance, which is started and stopped.
    - `has_tmp`: whether the node's /tmp is visible in the container without an option.
    - `needs_places`: whether the image must already have a mount point for each visible folder.
    - `before`: shell lines that set the variables of the runtime.
    - `tried`: a command line that fails if the runtime cannot make containers on this machine.
    - `remedy`: the next step for the user if `tried` fails.
    """

    name: str
    title: str
    program: str
    images: frozenset[ImageKind]
    start: tuple[str, ...]
    join: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    root: tuple[str, ...] = ("{}",)
    stored: tuple[str, ...] = ("{}",)
    stored_id: tuple[str, ...] = ()
    version: str = "--version"
    joins_with: tuple[str, ...] = ()
    whole: bool = False
    named: bool = False
    instance: bool = False
    has_tmp: bool = False
    needs_places: bool = False
    before: str = ""
    tried: tuple[str, ...] = ()
    remedy: str = ""

    @property
    def joins(self) -> bool:
        """Whether the ranks of a node can share a container."""
        return bool(self.join) or self.whole

    def started(self, box: Box) -> list[str]:
        """Return the words that are put before a program to start it in a new container."""
        return self._shell(_APART, (*self._filled(self.start, box), *_INSIDE))

    def joined(self, box: Box) -> list[str]:
        """Return the words that are put before a program to start it in the node's container."""
        holder = f"read -r pid <{box.holder_file} || exit 125\n"
        return self._shell(holder, (*self._filled(self.join, box), *_INSIDE))

    def holder(self, box: Box) -> list[str]:
        """Return the command line that makes the node's container and keeps it open."""
        words = self._filled(self.start, box)
        if self.named:
            words.insert(2, f"--name={box.name}")
        if self.instance:
            begin = shlex.join([self.program, "instance", "start", *words[2:], box.name])
            end = shlex.join([self.program, "instance", "stop", box.name])
            # In a session of its own: it has to outlive a killed parent, to stop the instance.
            words = ["setsid", "--wait", "sh", "-c", f'{begin} >&2 && "$@"; {end} >&2', "sh"]
        return self._shell("", (*words, *_HOLD, box.holder_file))

    def image_id(self, box: Box) -> list[str]:
        """Return the command line that prints the identity of the image.

        Empty if the runtime has no such command.
        """
        if box.kind is ImageKind.HOST:
            return []
        if box.kind is ImageKind.STORED:
            return self._filled(self.stored_id, box)
        return ["sh", "-c", _HASH, "sh", box.image]

    def _filled(self, words: Iterable[str], box: Box) -> list[str]:
        """Return words in which placeholders are replaced by folders, image and name.

        A word for the shell stays an `Expanded`.
        """
        filled: list[str] = []
        for word in words:
            if word == SHOWN:
                filled += self._shown(self.read_only, box.readable)
                filled += self._shown(self.writable, box.writable)
            elif word == IMAGE:
                way = self.stored if box.kind is ImageKind.STORED else self.root
                filled += [part.replace("{}", box.image) for part in way]
            elif isinstance(word, Expanded):
                filled.append(word)
            else:
                filled.append(word.replace("{name}", box.name))
        return filled

    def _shown(self, way: Iterable[str], paths: Iterable[str]) -> Iterator[str]:
        """Yield the words that make folders of the node visible in a container.

        - `way`: the words for one folder, from `read_only` or `writable`.

        /tmp is left out if the runtime makes it visible without an option.
        """
        for path in paths:
            if path != "/tmp" or not self.has_tmp:
                yield from (part.replace("{}", path) for part in way)

    def _shell(self, lines: str, words: Sequence[str]) -> list[str]:
        line = " ".join(word if isinstance(word, Expanded) else shlex.quote(word) for word in words)
        return ["sh", "-c", f'{self.before}{lines}exec {line} "$@"', "sh"]


def _apptainer(name: str, title: str) -> Runtime:
    return Runtime(
        name=name,
        title=title,
        program=name,
        images=FOLDERS | {ImageKind.STORED},
        start=(name, "exec", SHOWN, IMAGE),
        join=(name, "exec", "instance://{name}"),
        read_only=("--bind", "{}:{}:ro"),
        writable=("--bind", "{}"),
        stored=("docker://{}",),
        instance=True,
    )


#: Check that Docker's daemon answers and runs as root. The containers of a rootless daemon use its
#: network and process namespaces, and their ranks cannot reach ranks on the node. Without a daemon,
#: `docker info` fails with an error about the template; `docker version` reports the reason.
_DOCKER = """\
docker version --format '{{.Server.Version}}' >/dev/null || exit
kind=$(docker info --format '{{.SecurityOptions}}') || exit
case $kind in *rootless*)
    echo "its daemon is rootless: containers have its network and processes, not the node's" >&2
    exit 1 ;;
esac"""


def _podman(name: str, title: str, user: Sequence[str], images: frozenset[ImageKind]) -> Runtime:
    # Ranks reach each other as they do outside: network, memory and processes are the node's.
    shared = ("--network=host", "--ipc=host", "--pid=host")
    begin = (name, "run", "--rm", "--interactive", EVERY_NAME, *shared, *user)
    return Runtime(
        name=name,
        title=title,
        program=name,
        images=images,
        start=(*begin, SHOWN, IMAGE),
        join=(name, "exec", "--interactive", EVERY_NAME, "{name}"),
        read_only=("--volume", "{}:{}:ro"),
        writable=("--volume", "{}:{}"),
        root=("--rootfs", "{}"),
        stored_id=(name, "image", "inspect", "--format", "{{.Id}}", IMAGE),
        named=True,
        tried=("/bin/sh", "-c", _DOCKER) if name == "docker" else (name, "info"),
        remedy="start the machine's daemon, and join its group (`usermod -aG docker $USER`)"
        if name == "docker"
        else "see `podman info`: it needs user namespaces and ranges in /etc/subuid",
    )


_ROWS = (
    # A user namespace is always used, so that root has the same container as other users. Libraries
    # read the processor's topology from /sys. The devices are bound, because a separate /dev would
    # need a second user namespace, in which the container cannot be joined.
    Runtime(
        name="bwrap",
        title="bubblewrap",
        program="bwrap",
        images=FOLDERS | {ImageKind.HOST},
        start=(
            *("bwrap", "--unshare-user", "--die-with-parent", "--ro-bind", IMAGE, "/"),
            *("--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc"),
            *("--ro-bind", "/sys", "/sys", SHOWN, "--"),
        ),
        join=("nsenter", "--target", HOLDER, "--user", "--mount", "--preserve-credentials", "--"),
        read_only=("--ro-bind", "{}", "{}"),
        writable=("--bind", "{}", "{}"),
        joins_with=("nsenter",),
        needs_places=True,
        tried=("bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"),
        remedy="allow user namespaces, or run bareline as root",
    ),
    Runtime(
        name="charliecloud",
        title="Charliecloud",
        program="ch-run",
        images=FOLDERS,
        start=("ch-run", SHOWN, IMAGE, "--"),
        join=("ch-run", Expanded(f"--join-pid={HOLDER}"), IMAGE, "--"),
        read_only=("--bind", "{}"),
        writable=("--bind", "{}"),
        has_tmp=True,
        needs_places=True,
        before='export USER="${USER:-$(id -un)}"\n',
    ),
    _apptainer("apptainer", "Apptainer"),
    _apptainer("singularity", "Singularity"),
    _podman(
        "podman",
        "Podman",
        (KEEPING_USER,),
        frozenset({ImageKind.BARELINE, ImageKind.PATH, ImageKind.ARCHIVE, ImageKind.STORED}),
    ),
    _podman(
        "docker",
        "Docker",
        ("--user", Expanded('"$(id -u):$(id -g)"')),
        frozenset({ImageKind.STORED}),
    ),
    # Launcher and ranks are in one sandbox without a network: gVisor's network stack does not work
    # on some kernels, and the machine's network stack would not be gVisor's. Without the option for
    # the overlay, files that are written inside would not appear outside.
    Runtime(
        name="runsc",
        title="gVisor (runsc)",
        program="runsc",
        images=FOLDERS | {ImageKind.HOST},
        start=(
            *("runsc", "--platform=ptrace", "--network=none", "do"),
            *("-force-overlay=false", "-root", IMAGE, "--"),
        ),
        whole=True,
        tried=("runsc", "--platform=ptrace", "--network=none", "do", "true"),
        remedy="it needs ptrace, and a kernel that it knows",
    ),
)


@cache
def runtimes() -> Mapping[str, Runtime]:
    """Return every runtime by its name in platform files, including runtimes of plug-ins."""
    rows = ((__name__, row) for row in _ROWS)
    entries = chain(rows, checked("container runtime", brought("bareline.runtimes"), Runtime))
    return named("container runtime", entries, lambda runtime: runtime.name)
