"""A file system that is mounted on nodes: where trials work, and what is to be said of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from bareline.platforms.held import SETUP_S, WAIT, system_environment, tool, wait_ready
from bareline.platforms.layers.filesystem.options import Loop, Tmpfs
from bareline.platforms.process import Finished, holding, run_process
from bareline.platforms.workdir import PREFIX, folder_name, is_abandoned
from bareline.vocabulary.model import Scalar

#: Runs a command as root on a node, with a text as its standard input.
Run = Callable[[Sequence[str], str], Finished]


@dataclass(frozen=True, slots=True)
class Mounted:
    """What the nodes of a platform see.

    - `folder`: where it is mounted on every node.
    - `facts`: what nobody can see on a node.
    - `caveats`: codes for figures of storage that were measured on it.
    """

    folder: str
    facts: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Peer:
    """A node that others of a platform reach.

    - `address`: under which the other nodes reach it.
    - `run`: runs a command there.
    """

    name: str
    address: str
    run: Run


@contextmanager
def folder_below(folder: Path) -> Iterator[Path]:
    """Give a folder for what a file system lies in, and remove it, and those of killed barelines.

    - `folder`: any folder of this machine that can be written to.
    """
    for left in folder.glob(f"{PREFIX}*"):
        if is_abandoned(left.name):
            _remove(left)
    below = folder.absolute() / folder_name("below")
    below.mkdir(mode=0o700)
    try:
        yield below
    finally:
        _remove(below)


def _remove(folder: Path) -> None:
    # Should something be mounted below all the same, that is not what has to go.
    subprocess.run(["rm", "-rf", "--one-file-system", "--", str(folder)], check=False)


def run_script(run: Run, name: str, *arguments: str) -> dict[str, str]:
    """Run a script of ``scripts`` on a node; give the lines "KEY VALUE" that it prints."""
    text = (resources.files(__package__) / "scripts" / name).read_text(encoding="utf-8")
    done = run(["sh", "-s", "--", *arguments], text)
    done.must(
        "the file system cannot be mounted",
        where="filesystem",
        hint="`bareline doctor` says which programs are missing",
    )
    lines = (line.partition(" ")[::2] for line in done.stdout.splitlines())
    return {key: value.strip() for key, value in lines}


@dataclass(frozen=True, slots=True)
class Mounts:
    """A mount namespace of this machine, and a process namespace for what serves it.

    - `pid`: process that holds them.
    """

    pid: int

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Give the command line of a program that sees the mounts, and is otherwise as usual."""
        return [tool("nsenter"), f"--target={self.pid}", "--mount", "--", *argv]

    def run(self, argv: Sequence[str], stdin: str) -> Finished:
        """Run what mounts or serves; whatever it leaves running ends with the namespaces."""
        line = [tool("nsenter"), f"--target={self.pid}", "--mount", "--pid", "--", *argv]
        return run_process(line, env=system_environment(), timeout_s=SETUP_S, stdin=stdin)


@contextmanager
def private_mounts() -> Iterator[Mounts]:
    """Hold a mount namespace, which ends with this context or with bareline."""
    kinds = ["--mount", "--pid", "--fork", "--kill-child"]
    argv = [tool("unshare"), *kinds, "--", "sh", "-c", WAIT]
    with holding(argv, env=system_environment()) as process:
        yield Mounts(wait_ready(process, "the file system"))


def mount_volume(run: Run, chosen: Tmpfs | Loop, folder: Path, below: Path) -> Mounted:
    """Mount one on a node.

    - `below`: folder of the node in which the sparse file is made.
    """
    at, size = str(folder), str(chosen.size_bytes)
    if isinstance(chosen, Tmpfs):
        run_script(run, "volume", "tmpfs", at, size, chosen.options)
        return Mounted(at, {"fs.layer": chosen.type})
    image = str(below / "image")
    direct = "yes" if chosen.direct else "no"
    said = run_script(run, "volume", chosen.kind, at, size, chosen.options, image, direct)
    facts = {
        "fs.layer": chosen.type,
        "fs.below": said["below"],
        "fs.below_cache": "none: direct" if chosen.direct else "page cache",
    }
    return Mounted(at, facts, () if chosen.direct else ("loop-file",))
