"""What a bareline has made in a cloud: written down before each request, and after its answer.

A process that is killed at any moment leaves a journal in the cache that names all that can be
left in the cloud, what was asked for and never answered included. Names carry the process's mark,
so that what a lost journal does not tell is found by its name.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from bareline.host.owner import has_ended, owner_mark
from bareline.platforms.cloud.provider import INSTANCE, Thing
from bareline.vocabulary.files import sync_folder

#: Begins the name of all that bareline makes in a cloud; its owner's mark follows.
PREFIX = "bareline-"
#: An instance may still appear so long after its request was sent by a process that was killed.
SETTLED_S = 120.0
_NUMBERS = count(1)


def is_abandoned(name: str) -> bool:
    """Tell whether a thing of this name was made by a bareline of this machine that has ended."""
    return name.startswith(PREFIX) and has_ended(name.removeprefix(PREFIX))


@dataclass(slots=True)
class Story:
    """A journal as it was read.

    - `owner`: mark of the process that wrote it.
    - `kind`: type of the platform.
    - `platform`: its name.
    - `account`: how the cloud is reached again, without any secret.
    - `things`: all that was asked for and is not known to be gone, by name, in the order of asking.
    - `asked_at`, `up_since`: when that was, and since when instances are there, in seconds of the
      epoch.
    """

    owner: str
    kind: str
    platform: str
    account: Mapping[str, str]
    things: dict[str, Thing] = field(default_factory=dict)
    asked_at: dict[str, float] = field(default_factory=dict)
    up_since: dict[str, float] = field(default_factory=dict)

    @property
    def is_abandoned(self) -> bool:
        """Whether its process has ended."""
        return has_ended(self.owner)

    @property
    def instances(self) -> list[str]:
        """Names of the instances that are there."""
        instances = (name for name, thing in self.things.items() if thing.kind == INSTANCE)
        return [name for name in instances if name in self.up_since]

    def may_appear(self, thing: Thing, now: float) -> bool:
        """Tell whether a thing that cannot be found may still come: its request had no answer."""
        return not thing.id and now < self.asked_at[thing.name] + SETTLED_S

    def take(self, entry: Mapping[str, Any]) -> None:
        """Follow one line of the journal."""
        what, name = entry["what"], str(entry["name"])
        if what == "asked":
            self.things[name] = Thing(str(entry["kind"]), name)
            self.asked_at[name] = float(entry["at"])
        elif what == "made" and name in self.things:
            self.things[name] = Thing(self.things[name].kind, name, str(entry["id"]))
            self.up_since[name] = float(entry["at"])
        elif what == "gone":
            self.things.pop(name, None)


def folder_of(cache: Path) -> Path:
    """Give the folder of the journals."""
    return cache / "cloud" / "journals"


class Journal:
    """The journal of a group of instances, while it is in use."""

    def __init__(self, cache: Path, kind: str, platform: str, account: Mapping[str, str]) -> None:
        folder, owner = folder_of(cache), owner_mark()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # No name is used twice by a process: what it named before may still be going.
        number = next(_NUMBERS)
        self.path = folder / f"{owner}-{number}.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        self._file = os.open(self.path, flags, 0o600)
        self._torn = False
        self.prefix = f"{PREFIX}{owner}-{number}"
        self.story = Story(owner, kind, platform, dict(account))
        self._write({"owner": owner, "kind": kind, "platform": platform, "account": dict(account)})
        sync_folder(folder)

    def _write(self, entry: Mapping[str, Any]) -> None:
        line = ("\n" * self._torn + json.dumps(entry) + "\n").encode()
        self._torn = True
        while line:
            line = line[os.write(self._file, line) :]
        self._torn = False
        os.fsync(self._file)

    def _add(self, what: str, name: str, **more: str) -> None:
        entry = {"what": what, "name": name, "at": time.time(), **more}
        self._write(entry)
        self.story.take(entry)

    def asked(self, thing: Thing) -> None:
        """Note what is about to be asked for."""
        self._add("asked", thing.name, kind=thing.kind)

    def made(self, thing: Thing, id_: str) -> Thing:
        """Note that a thing exists, and give it with its id."""
        self._add("made", thing.name, id=id_)
        return self.story.things[thing.name]

    def gone(self, thing: Thing) -> None:
        """Note that a thing does not exist any more."""
        self._add("gone", thing.name)

    def close(self) -> None:
        """End the journal; it goes where nothing is left, and stays for `remains` otherwise."""
        os.close(self._file)
        if not self.story.things:
            self.path.unlink(missing_ok=True)


def read_journal(path: Path) -> Story | None:
    """Read a journal; None of one that never got its first line.

    A torn line is one whose request was not sent: it is left out. Others may follow it, where its
    process could write again.
    """
    entries = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with suppress(ValueError):
            entries.append(json.loads(line))
    try:
        head, *rest = entries
        story = Story(head["owner"], head["kind"], head["platform"], head["account"])
        for entry in rest:
            story.take(entry)
    except (ValueError, KeyError, TypeError):
        return None
    return story


def journals(cache: Path) -> Iterator[tuple[Path, Story]]:
    """Read every journal of the cache."""
    for path in sorted(folder_of(cache).glob("*.jsonl")):
        try:
            story = read_journal(path)
        except OSError:
            continue
        if story is not None:
            yield path, story
