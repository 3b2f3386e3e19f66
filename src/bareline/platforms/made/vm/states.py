"""Saved states of guests that have just booted; a guest starts from its state within a second.

A state belongs to one guest of one configuration, and includes the content of the guest's disk. The
name of a configuration's folder is a hash of everything that a guest's memory depends on, such as
image, options, QEMU, and this package's scripts. A guest from a damaged state would fail in strange
ways, so size and hash of each file are checked before use.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bareline.host.locks import file_lock
from bareline.platforms.hosts.images.parts import damage_of, describe_parts, note_whole, read_record
from bareline.platforms.made.vm.boot_source import counter_argument
from bareline.platforms.made.vm.domain import Accelerator
from bareline.platforms.made.vm.guest import guest_script
from bareline.platforms.made.vm.hypervisor import import_libvirt
from bareline.platforms.made.vm.image import AutoImage
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.made.vm.preflight import qemu_version
from bareline.platforms.reached.remote.keys import Keys, make_keys
from bareline.vocabulary.files import replace_file

#: The files of a state, and the file that describes it.
_PARTS = ("memory", "disk.qcow2", "initrd")
_RECORD = "report.json"
_KEYS = ("client", "client.pub", "host", "host.pub")


@dataclass(frozen=True, slots=True)
class SavedGuest:
    """The files of a guest's saved state."""

    memory: Path
    disk: Path
    initrd: Path
    report: dict[str, str]


class SavedStates:
    """The saved states of one configuration in `folder`, with the ssh keys of its guests."""

    def __init__(self, folder: Path, tell: Callable[[str], None]) -> None:
        self.folder = folder
        self._tell = tell
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def keys(self) -> Keys:
        """Return the ssh keys of the guests; if saved keys are damaged, remove all states."""
        folder = self.folder / "keys"
        record = folder / "keys.json"
        with file_lock(self.folder.with_suffix(".lock")):
            damage = damage_of(folder, read_record(record), _KEYS) if folder.exists() else ""
            if damage:
                self._tell(f"the keys of saved guests are damaged, all is saved again: {damage}")
                shutil.rmtree(self.folder)
                self.folder.mkdir(mode=0o700)
            keys = make_keys(folder)
            if not record.exists():
                replace_file(
                    record, json.dumps({"parts": describe_parts(folder, _KEYS)}), durable=False
                )
        return keys

    def identity(self, name: str) -> str:
        """Return the UUID of a guest; a saved guest must have the same UUID at every start."""
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{self.folder.name}/{name}"))

    def find(self, name: str) -> SavedGuest | None:
        """Return a guest's complete state, or None. A damaged state is removed."""
        folder = self.folder / name
        if not folder.exists():
            return None
        described = read_record(folder / _RECORD)
        if damage := damage_of(folder, described, _PARTS):
            self._tell(f"the saved state of {name} is damaged and made again: {damage}")
            self.forget(name)
            return None
        memory, disk, initrd = (folder / part for part in _PARTS)
        return SavedGuest(memory, disk, initrd, described.get("report", {}))

    def save(
        self, name: str, domain: Any, *, disk: Path, initrd: Path, report: dict[str, str]
    ) -> SavedGuest:
        """Stop a guest and save its state, unless another process has just saved a state of it.

        The state of the faster process is then used. The initramfs is also saved, because QEMU
        reads it at every start, even if the guest no longer needs it.
        """
        new = self.folder / f"{name}.{uuid.uuid4().hex}"
        new.mkdir(mode=0o700)
        try:
            domain.saveFlags(str(new / "memory"))
            shutil.copy(disk, new / "disk.qcow2")
            shutil.copy(initrd, new / "initrd")
            described = {"report": report, "parts": describe_parts(new, _PARTS)}
            note_whole(new, _PARTS)
            replace_file(new / _RECORD, json.dumps(described), durable=False)
            if self.find(name) is None:
                self.forget(name)
                new.rename(self.folder / name)
        except OSError:
            # Another process was first; its state serves as well.
            if self.find(name) is None:
                raise
        finally:
            shutil.rmtree(new, ignore_errors=True)
        saved = self.find(name)
        assert saved is not None
        return saved

    def forget(self, name: str) -> None:
        """Remove a saved state from which the guest did not start."""
        shutil.rmtree(self.folder / name, ignore_errors=True)


def states_of(
    options: VmOptions,
    nodes: int,
    image: AutoImage,
    accelerator: Accelerator,
    cache: Path,
    tell: Callable[[str], None],
) -> SavedStates:
    """Return the saved states of a configuration."""
    digest = hashlib.sha256()
    for text in (
        *(options.model_dump_json(), str(nodes), image.digest),
        *(str(options.cores_per_node), image.kernel_version, accelerator),
        *(qemu_version(), str(import_libvirt().getVersion())),
        *counter_argument(Path("/proc/cpuinfo").read_text(encoding="utf-8")),
    ):
        digest.update(text.encode() + b"\0")
    for script in ("init", "initramfs", "setup"):
        digest.update(guest_script(script))
    return SavedStates(cache / "vm" / "states" / digest.hexdigest()[:16], tell)
