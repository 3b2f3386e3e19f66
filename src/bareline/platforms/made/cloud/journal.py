"""The resources of a bareline in a cloud, recorded before each request, for removal after a kill.

A process that is killed at any moment leaves a journal that names all it can have left in the
cloud. Names carry the process's mark, so that they also identify the resources of a lost journal.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from bareline.host.locks import file_lock
from bareline.host.owner import has_ended, owner_mark, owner_pid
from bareline.platforms.made.cloud.provider import INSTANCE, BackOff, Insistence, Steward, Thing
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file, sync_folder
from bareline.vocabulary.units import HOUR_S, count

#: Begins the name of all that bareline makes in a cloud; its owner's mark follows.
PREFIX = "bareline-"
#: An instance may still appear so long after its request was sent by a process that was killed.
SETTLED_S = 120.0
_NUMBERS = itertools.count(1)


def is_abandoned(name: str) -> bool:
    """Return whether a thing of this name was made by a bareline of this machine that has ended."""
    return name.startswith(PREFIX) and has_ended(name.removeprefix(PREFIX))


@dataclass(slots=True)
class Story:
    """A journal as it was read.

    - `owner`: mark of the process that wrote it.
    - `kind`, `platform`: the platform's type and name.
    - `account`: how the cloud is reached again, without any secret.
    - `things`: all that was asked for and is not known to be gone, by name, in the order of asking.
    - `asked_at`, `up_since`: seconds of the epoch, the latter of instances that are there.
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
        """Return whether a thing that cannot be found may still come: its request had no answer."""
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
    """Return the folder of the journals."""
    return cache / "cloud" / "journals"


class Journal:
    """The journal of a group of instances, while it is in use."""

    def __init__(self, cache: Path, kind: str, platform: str, account: Mapping[str, str]) -> None:
        folder, owner = folder_of(cache), owner_mark()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # No name is used twice by a process: an earlier resource may still exist.
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
        """Record a request before it is sent."""
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

    A torn line is one whose request was not sent: it is left out. Further lines may follow it, if
    its process could write again.
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


_LOG = logging.getLogger(__name__)
#: How long an instance may take to go.
_GONE_S = 180.0
_LOOK_S = 1.0


def remove(
    steward: Steward, things: Sequence[Thing], insist: Insistence, gone: Callable[[Thing], None]
) -> list[Thing]:
    """Remove things, and see that they are gone; give those that were there.

    - `things`: in the order of making; those without an id are looked for by their names.
    """
    known: list[Thing] = []
    for thing in things:
        ids = [thing.id]
        if not thing.id:
            ids = insist.ask(f"looking for {thing.name}", partial(steward.find, thing))
        if not ids:
            gone(thing)
        known += [replace(thing, id=each) for each in ids]
    _remove(steward, [thing for thing in known if thing.kind == INSTANCE], insist, gone)
    # The resources of instances can only be removed after them.
    others = [thing for thing in known if thing.kind != INSTANCE]
    others.sort(key=lambda thing: -steward.kinds.index(thing.kind))
    _remove(steward, others, insist, gone)
    return known


def _remove(
    steward: Steward, things: Sequence[Thing], insist: Insistence, gone: Callable[[Thing], None]
) -> None:
    for thing in things:
        insist.ask(f"removing {thing.name}", partial(steward.delete, thing))
    left, deadline = list(things), time.monotonic() + _GONE_S
    while left:
        for thing in list(left):
            if insist.ask(f"looking for {thing.name}", partial(steward.is_gone, thing)):
                left.remove(thing)
                gone(thing)
        if left and time.monotonic() > deadline:
            raise PlatformError(
                f"the {left[0].kind} is still there {_GONE_S:.0f} s after it was to be removed",
                where=left[0].name,
                hint="`bareline platforms clean` tries again; it may cost until then",
            )
        if left:
            time.sleep(_LOOK_S)


#: How a cloud is reached again, without any secret.
Account = Mapping[str, str]


def remember(cache: Path, kind: str, account: Account, *, keep: bool = True) -> None:
    """Keep (or forget) that a cloud was used, as long as the cache lives: `clean` looks at it."""
    path, entry = _known_file(cache), {"kind": kind, "account": dict(account)}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with file_lock(path.with_suffix(".lock")):
        known = _known(path)
        if (entry in known) != keep:
            others = [each for each in known if each != entry]
            replace_file(path, json.dumps([*others, entry] if keep else others))


def _known_file(cache: Path) -> Path:
    return cache / "cloud" / "accounts.json"


def _known(path: Path) -> list[Any]:
    with suppress(OSError, ValueError):
        found = json.loads(path.read_text(encoding="utf-8"))
        return found if isinstance(found, list) else []
    return []


def _accounts(cache: Path, kind: str) -> Iterator[dict[str, str]]:
    seen = []
    entries = [{"kind": story.kind, "account": story.account} for _, story in journals(cache)]
    for entry in [*_known(_known_file(cache)), *entries]:
        account = entry.get("account") if isinstance(entry, dict) else None
        if isinstance(account, dict) and entry.get("kind") == kind and account not in seen:
            seen.append(account)
            yield {str(key): str(value) for key, value in account.items()}


def clean(
    cache: Path, kind: str, steward_of: Callable[[Account], Steward], only: Account | None = None
) -> list[str]:
    """Remove the remains of killed barelines in the clouds of a kind; return a line for each.

    Resources of other barelines, machines and users stay. An account of which no journal is
    left is looked at this last time, whether it answers or not.
    """
    removed: list[str] = []
    for account in _accounts(cache, kind):
        if only is not None and account != dict(only):
            continue
        try:
            with file_lock(folder_of(cache) / ".clean"):
                patience = BackOff(most_s=60.0, waits_for_silent=only is not None)
                insist = Insistence(_LOG.warning, patience)
                removed += _clean_account(cache, kind, account, steward_of(account), insist)
        except PlatformError as error:
            title = " ".join(account.values())
            removed.append(f"{kind} {title}: cannot be looked at, nothing is removed: {error}")
        if only is None and not any(
            (story.kind, dict(story.account)) == (kind, account) for _, story in journals(cache)
        ):
            remember(cache, kind, account, keep=False)
    return removed


def _clean_account(
    cache: Path, kind: str, account: Account, steward: Steward, insist: Insistence
) -> list[str]:
    removed: list[Thing] = []
    for path, story in journals(cache):
        if (story.kind, dict(story.account)) == (kind, dict(account)) and story.is_abandoned:
            removed += _settle(path, story, steward, insist)
    every = insist.ask("listing", lambda: list(steward.named(PREFIX)))
    stray = [thing for thing in every if is_abandoned(thing.name)]
    stray.sort(key=lambda thing: steward.kinds.index(thing.kind))
    removed += remove(steward, stray, insist, lambda _: None)
    title = " ".join(account.values())
    return [f"{title}: {thing.kind} {thing.name} removed" for thing in removed]


def _settle(path: Path, story: Story, steward: Steward, insist: Insistence) -> list[Thing]:
    """Remove the resources of a journal; it stays where something may still appear."""
    gone: set[str] = set()
    found = remove(steward, list(story.things.values()), insist, lambda thing: gone.add(thing.name))
    there = {thing.name for thing in found}
    now, missing = time.time(), (one for one in story.things.values() if one.name not in there)
    if waits := {thing.name for thing in missing if story.may_appear(thing, now)}:
        # Removed resources are not looked for, nor reported, again.
        with path.open("a", encoding="utf-8") as file:
            for name in sorted(gone - waits):
                file.write(json.dumps({"what": "gone", "name": name}) + "\n")
    else:
        path.unlink(missing_ok=True)
    return found


def running(cache: Path, kind: str, platform: str, now: float) -> str:
    """Describe living barelines' resources in a cloud: ``2 instances for 0.4 h (process 123)``."""
    found = []
    with suppress(OSError):
        for _, story in journals(cache):
            names, ours = story.instances, (story.kind, story.platform) == (kind, platform)
            if ours and names and not story.is_abandoned:
                hours = max(now - story.up_since[name] for name in names) / HOUR_S
                up = f"{count(len(names), 'instance')} for {hours:.1f} h"
                found.append(f"{up} (process {owner_pid(story.owner)})")
    return "; ".join(found)
