"""Generated ssh keys of nodes that bareline makes; they are removed with the nodes.

The nodes only accept the generated key, and ssh only accepts the nodes' generated host key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bareline.platforms.hosts.process import run_process


@dataclass(frozen=True, slots=True)
class Keys:
    """The key pairs of one platform's nodes: a key for logins, and the host key of all nodes."""

    client: str
    client_public: str
    host: str
    host_public: str


def make_keys(folder: Path) -> Keys:
    """Return both key pairs from a folder, or write new key pairs into it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    texts = []
    for name in ("client", "host"):
        path = folder / name
        if not path.exists():
            run_process(
                ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bareline", "-f", str(path)],
                timeout_s=20.0,
            ).require_success("ssh-keygen could not make a key")
        texts += [path.read_text(), path.with_suffix(".pub").read_text()]
    return Keys(*texts)


def client_config(
    addresses: Mapping[str, str], *settings: str, key: str, known: str, pattern: str = "*"
) -> str:
    """Return the ssh configuration for nodes that bareline has made.

    ssh then uses no key other than the generated keys.

    - `key`: the file with the key for logins.
    - `known`: the known_hosts file with the nodes' host key.
    - `pattern`: the hosts that the configuration applies to, so that a jump host can be excluded.
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
    """Return known_hosts lines with the nodes' host key for addresses; ``*`` is any address."""
    kind, key = keys.host_public.split()[:2]
    return "".join(f"{address} {kind} {key}\n" for address in addresses)
