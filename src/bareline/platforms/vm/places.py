"""What a guest's definition needs beside the options: its identity, its files, its processor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Accelerator = Literal["kvm", "tcg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Boot:
    """A kernel that is started directly, without boot loader."""

    kernel: str
    initrd: str | None
    command_line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """What a definition needs beside the options: this guest's identity and files.

    `index`: position among all guests of the host, neighbours included, from 0.
    `host_cpus`: processors of the host that may be used for pinning.
    `vcpus`: virtual processors.
    `disk`, `disk_format`: the guest's own layer over the image.
    `seed`: medium for cloud-init.
    `console`: file that the serial console is written to.
    `mac`: of the NIC that is measured.
    `management_mac`: of a second NIC through which bareline reaches the guest; None when one serves
    both.
    `bridge`: the host's private bridge.
    """

    name: str
    uuid: str
    index: int
    vcpus: int
    accelerator: Accelerator
    disk: str
    console: str
    mac: str
    bridge: str
    disk_format: str = "qcow2"
    boot: Boot | None = None
    seed: str | None = None
    management_mac: str | None = None
    host_cpus: Sequence[int] = ()
