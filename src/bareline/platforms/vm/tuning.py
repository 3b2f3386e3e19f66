"""Profiles of TCP settings for host and guests, recorded before and after.

References
----------
ESnet, fasterdata.es.net, "Linux Tuning": buffers for paths of 10 Gb/s.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict

from bareline.vocabulary.model import Scalar

if TYPE_CHECKING:
    from bareline.platforms.vm.hypervisor import Hypervisor
    from bareline.platforms.vm.remains import Holder

Profile = Literal["default", "10g", "lan"]

_MIB = 1 << 20
_TEN_GIGABIT: Mapping[str, str] = {
    "net.core.rmem_max": str(64 * _MIB),
    "net.core.wmem_max": str(64 * _MIB),
    "net.ipv4.tcp_rmem": f"4096 87380 {32 * _MIB}",
    "net.ipv4.tcp_wmem": f"4096 65536 {32 * _MIB}",
    "net.core.netdev_max_backlog": "30000",
    "net.ipv4.tcp_mtu_probing": "1",
    "net.ipv4.tcp_no_metrics_save": "1",
}
#: Settings of each profile. ``lan`` keeps the kernel's buffers and only lengthens the backlog.
PROFILES: Mapping[str, Mapping[str, str]] = {
    "default": {},
    "10g": _TEN_GIGABIT,
    "lan": {"net.core.netdev_max_backlog": "30000", "net.ipv4.tcp_no_metrics_save": "1"},
}

_KEY = re.compile(r"net(\.[a-z0-9_]+)+")
_VALUE = re.compile(r"[A-Za-z0-9_ -]+")


def _checked_settings(settings: Mapping[str, str]) -> Mapping[str, str]:
    for key, value in settings.items():
        if not _KEY.fullmatch(key):
            raise ValueError(f"'{key}' is no network setting like net.core.rmem_max")
        if not _VALUE.fullmatch(value):
            raise ValueError(f"{value!r} is no value for {key}")
    return settings


class Tuning(BaseModel):
    """TCP settings of one side.

    - `profile`: a set of settings; ``default`` changes nothing.
    - `congestion`: congestion control, e.g. ``cubic``, ``bbr``.
    - `sysctl`: settings on top, by name, e.g. ``{"net.core.busy_poll" = "50"}``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    profile: Profile = "default"
    congestion: Literal["cubic", "reno", "bbr", "dctcp", "htcp"] | None = None
    sysctl: Annotated[dict[str, str], AfterValidator(_checked_settings)] = {}

    def settings(self) -> dict[str, str]:
        """Give every setting that is changed, in the order in which they are set."""
        chosen = dict(PROFILES[self.profile])
        if self.congestion:
            chosen["net.ipv4.tcp_congestion_control"] = self.congestion
        return chosen | self.sysctl


def script(settings: Mapping[str, str]) -> str:
    """Give a shell script that sets values and prints ``name=before|after`` for each.

    A setting that does not exist in this network namespace, or refuses, prints ``after`` as it
    stays. Names and values come as arguments, never as script.
    """
    if not settings:
        return ":"
    return (
        'while [ $# -gt 1 ]; do f=/proc/sys/$(echo "$1" | tr . /); '
        'b=$(cat "$f" 2>/dev/null); echo "$2" > "$f" 2>/dev/null; '
        'echo "$1=$b|$(cat "$f" 2>/dev/null)"; shift 2; done'
    )


def arguments(settings: Mapping[str, str]) -> list[str]:
    """Give the arguments of `script`."""
    return [part for pair in settings.items() for part in pair]


def read_changes(text: str) -> dict[str, tuple[str, str]]:
    """Read what `script` printed: name to (before, after)."""
    changes = {}
    for line in text.splitlines():
        name, _, values = line.partition("=")
        before, bar, after = values.partition("|")
        if bar:
            changes[name] = (" ".join(before.split()), " ".join(after.split()))
    return changes


def tune_host(tuning: Tuning, hypervisor: Hypervisor, holder: Holder) -> dict[str, Scalar]:
    """Apply settings on the host's side; give what changed as facts.

    Most settings belong to a network namespace, and the guests' one is their own. What the kernel
    keeps once for all is changed for the whole host and restored afterwards.
    """
    settings = tuning.settings()
    if not settings:
        return {}
    line = ["sh", "-c", script(settings), "sh", *arguments(settings)]
    changes = read_changes(hypervisor.run_inside(line).stdout)
    facts: dict[str, Scalar] = {}
    for name, value in settings.items():
        before, after = changes.get(name, ("", ""))
        if not before:
            before, after = _set_on_host(name, value, holder)
        facts[f"tuning.host.{name}"] = f"{before} -> {after}"
    return facts


def _set_on_host(name: str, value: str, holder: Holder) -> tuple[str, str]:
    path = Path("/proc/sys", *name.split("."))
    try:
        before = " ".join(path.read_text(encoding="ascii").split())
    except OSError:
        return "absent", "absent"
    holder.add_setting(name, before)
    with contextlib.suppress(OSError):
        path.write_text(value, encoding="ascii")
    return before, " ".join(path.read_text(encoding="ascii").split())
