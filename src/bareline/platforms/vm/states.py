"""Saved states: a guest as it was when it first came up, from which it starts again in a second.

A state belongs to one guest of one configuration, with the disk as it was at that moment. All that
a guest remembers is part of the key: image, options, identity, QEMU, and this package's scripts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from bareline.platforms.vm.image import AutoImage
from bareline.platforms.vm.options import VmOptions

_SCRIPTS = ("init", "initramfs", "setup")


@dataclass(frozen=True, slots=True)
class SavedGuest:
    """A guest's saved state."""

    memory: Path
    disk: Path
    initrd: Path
    report: dict[str, str]


class SavedStates:
    """The saved states of one configuration.

    Parameters
    ----------
    folder
        In bareline's cache; it also holds the keys that the guests know.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def identity(self, name: str) -> str:
        """Give the identity of a guest, which must be the same at every start."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.folder.name}/{name}"))

    def find(self, name: str) -> SavedGuest | None:
        """Give a guest's state, None when it was never saved."""
        folder = self.folder / name
        try:
            report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return SavedGuest(folder / "memory", folder / "disk.qcow2", folder / "initrd", report)

    def save(
        self, name: str, domain: Any, *, disk: Path, initrd: Path, report: dict[str, str]
    ) -> None:
        """Stop a guest into a state; of two processes that save the same, the first one's stays.

        QEMU reads the initramfs again at every start, although the guest has long used it.
        """
        new = self.folder / f"{name}.{uuid.uuid4().hex}"
        new.mkdir(mode=0o700)
        try:
            domain.saveFlags(str(new / "memory"))
            shutil.copy(disk, new / "disk.qcow2")
            shutil.copy(initrd, new / "initrd")
            (new / "report.json").write_text(json.dumps(report), encoding="utf-8")
            if self.find(name) is None:
                shutil.rmtree(self.folder / name, ignore_errors=True)
                new.rename(self.folder / name)
        except OSError:
            # Another process was first; its state serves as well.
            if self.find(name) is None:
                raise
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def forget(self, name: str) -> None:
        """Remove a state that did not start."""
        shutil.rmtree(self.folder / name, ignore_errors=True)


def states_of(
    options: VmOptions, nodes: int, image: AutoImage, about: Iterable[str], cache: Path
) -> SavedStates:
    """Give the states of a configuration.

    Parameters
    ----------
    about
        What else a saved guest depends on: its processors, the accelerator, the versions of QEMU
        and libvirt, the rate of the host's counter.
    """
    digest = hashlib.sha256()
    for text in (options.model_dump_json(), str(nodes), image.digest, *about):
        digest.update(text.encode() + b"\0")
    for script in _SCRIPTS:
        path = resources.files("bareline.platforms.vm") / "scripts" / script
        digest.update(path.read_bytes())
    return SavedStates(cache / "vm" / "states" / digest.hexdigest()[:16])
