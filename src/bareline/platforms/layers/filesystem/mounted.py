"""A file system that is mounted on nodes: where trials work, and what is to be said of it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from types import MappingProxyType

from bareline.platforms.process import Finished
from bareline.platforms.workdir import PREFIX, folder_name, is_abandoned
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Scalar

#: Runs a command as root on a node, with a text as its standard input.
Run = Callable[[Sequence[str], str], Finished]


@dataclass(frozen=True, slots=True)
class Mounted:
    """What the nodes of a platform see.

    `folder`: where it is mounted on every node.
    `facts`: what nobody can see on a node.
    `caveats`: codes for figures of storage that were measured on it.
    """

    folder: str
    facts: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    caveats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Peer:
    """A node that others of a platform reach.

    `address`: under which the other nodes reach it.
    `run`: runs a command there.
    """

    name: str
    address: str
    run: Run


@contextmanager
def folder_below(folder: Path) -> Iterator[Path]:
    """Give a folder for what a file system lies in, and remove it, and those of killed barelines.

    `folder`: any folder of this machine that can be written to.
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
    if done.exit_code or done.timed_out:
        said = done.stderr.strip().splitlines()
        why = "it took too long" if done.timed_out else said[-1] if said else "no reason given"
        raise PlatformError(
            f"the file system cannot be mounted: {why}",
            where="filesystem",
            hint="`bareline doctor` says which programs are missing",
        )
    lines = (line.partition(" ")[::2] for line in done.stdout.splitlines())
    return {key: value.strip() for key, value in lines}
