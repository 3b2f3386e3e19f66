"""How instances are reached: with generated keys, pinned on both sides."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bareline.platforms.cloud.budget import CloudOptions
from bareline.platforms.process import run_process
from bareline.platforms.remote.keys import Keys, client_config, known_hosts, make_keys

#: ssh to a host that is not there yet must not take longer than it takes to come.
_TRY_S = 10.0
_PAUSE_S = 1.0
_AT_ONCE = 16


class Access:
    """The keys of a group of instances, and the ssh configuration that leads to them."""

    def __init__(self, folder: Path, options: CloudOptions) -> None:
        self._options, self._folder = options, folder
        self.keys: Keys = make_keys(folder)
        # One key for all, made for them alone: their addresses need not be known before.
        self._known = known_hosts(self.keys, ["*"])
        (folder / "known_hosts").write_text(self._known, encoding="utf-8")
        self.config = folder / "config"
        self.addresses: dict[str, str] = {}

    def lead(self, addresses: Mapping[str, str]) -> None:
        """Let names lead to addresses."""
        self.addresses = dict(addresses)
        text = self._config(str(self._folder))
        if self._options.jump:
            text += f"  ProxyJump {self._options.jump}\nInclude ~/.ssh/config\n"
        self.config.write_text(text, encoding="utf-8")

    def _config(self, folder: str) -> str:
        """Write ssh's configuration, with the keys in a folder."""
        names, user = " ".join(self.addresses), f"User {self._options.user}"
        key, known = f"{folder}/client", f"{folder}/known_hosts"
        return client_config(self.addresses, user, key=key, known=known, pattern=names)

    def user_data(self, name: str) -> str:
        """Give what cloud-init makes of an instance: its name, its host key, who may log in."""
        keys, user = self.keys, self._options.user
        public = keys.client_public.strip()
        account: dict[str, object] = {"name": user, "ssh_authorized_keys": [public]}
        if user != "root":
            account |= {"shell": "/bin/bash", "lock_passwd": True}
        content = {
            "hostname": name,
            "preserve_hostname": False,
            "disable_root": user != "root",
            "ssh_pwauth": False,
            "ssh_deletekeys": True,
            "ssh_keys": {"ed25519_private": keys.host, "ed25519_public": keys.host_public.strip()},
            "users": ["default", account],
        }
        return "#cloud-config\n" + json.dumps(content)

    def inner_files(self, folder: str) -> dict[str, str]:
        """Give the files with which one instance logs in to the others, by their names."""
        config = self._config(folder)
        return {"client": self.keys.client, "known_hosts": self._known, "config": config}

    def reach(self, names: list[str], within_s: float) -> dict[str, tuple[float | None, str]]:
        """Wait until instances answer over ssh, all at once.

        Gives the seconds that each took, or None and why it does not answer.
        """
        with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
            found = pool.map(lambda name: self._reach(name, within_s), names)
            return dict(zip(names, found, strict=True))

    def _reach(self, name: str, within_s: float) -> tuple[float | None, str]:
        began = time.monotonic()
        while reason := self.try_once(name):
            # A key that is not the pinned one, or none that is let in, may be that of before
            # cloud-init: only time tells.
            if time.monotonic() - began > within_s:
                return None, reason
            time.sleep(_PAUSE_S)
        return time.monotonic() - began, ""

    def try_once(self, name: str) -> str:
        """Log in once; "" where that works, else why it does not."""
        connect_s = max(1, round(min(_TRY_S, self._options.reach_s)))
        options = ["BatchMode=yes", f"ConnectTimeout={connect_s}", "ControlPath=none"]
        words = [word for option in options for word in ("-o", option)]
        line = ["ssh", "-F", str(self.config), *words, name, "true"]
        done = run_process(line, timeout_s=2 * _TRY_S)
        return done.why if done.exit_code else ""
