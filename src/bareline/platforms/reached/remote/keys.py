"""Generated keys for nodes that bareline makes: pinned on both sides, and gone with the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.platforms.hosts.process import run_process


@dataclass(frozen=True, slots=True)
class Keys:
    """Key pairs of one platform's nodes: one to log in with, one that every node shows."""

    client: str
    client_public: str
    host: str
    host_public: str


def make_keys(folder: Path) -> Keys:
    """Generate both pairs, or read those that a folder already has."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    texts = []
    for name in ("client", "host"):
        path = folder / name
        if not path.exists():
            run_process(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bareline", "-f", str(path)],
                timeout_s=20.0,
            ).require_success("ssh-keygen failed")
        texts += [path.read_text(), path.with_suffix(".pub").read_text()]
    return Keys(*texts)


def client_config(
    addresses: Mapping[str, str], *settings: str, key: str, known: str, pattern: str = "*"
) -> str:
    """Write ssh's configuration for nodes that bareline has made: their key only, and pinned.

    - `key`, `known`: the files of the key to log in with, and of the nodes' own.
    - `pattern`: for which hosts it counts; one through which ssh jumps has settings of its own.
    """
    hosts = "".join(f"Host {name}\n  HostName {address}\n" for name, address in addresses.items())
    lines = (
        f"IdentityFile {key}",
        "IdentitiesOnly yes",
        f"UserKnownHostsFile {known}",
        "GlobalKnownHostsFile none",
        "StrictHostKeyChecking yes",
        "CheckHostIP no",
        "LogLevel ERROR",
        "GSSAPIAuthentication no",
        *settings,
    )
    return hosts + f"Host {pattern}\n" + "".join(f"  {line}\n" for line in lines)


def known_hosts(keys: Keys, addresses: Sequence[str]) -> str:
    """Pin the nodes' key under all their addresses; ``*`` means any."""
    kind, key = keys.host_public.split()[:2]
    return "".join(f"{address} {kind} {key}\n" for address in addresses)
