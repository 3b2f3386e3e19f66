"""Journals of the cloud resources of bareline processes, for the removal after a kill.

Each resource is recorded before it is requested. A process that is killed at any moment therefore
leaves a journal of all resources that it can have left in the cloud. The names of resources contain
the mark of the process, so that resources are identified even if their journal is lost.
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
from bareline.platforms.made.cloud.provider import (
    INSTANCE,
    AccountCleaner,
    BackOff,
    CloudResource,
    Retries,
)
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file, sync_folder
from bareline.vocabulary.units import HOUR_S, count

#: Beginning of the names of bareline's resources in a cloud; the owner's mark follows.
PREFIX = "bareline-"
#: Time after its request in which an instance may still appear.
SETTLED_S = 120.0
_NUMBERS = itertools.count(1)


def is_abandoned(name: str) -> bool:
    """Return whether an ended bareline process of this machine made a resource of this name."""
    return name.startswith(PREFIX) and has_ended(name.removeprefix(PREFIX))


@dataclass(slots=True)
class JournalState:
    """The content of a journal file.

    - `owner`: mark of the process that wrote the journal.
    - `kind`, `platform`: the type of the platform, and its name.
    - `account`: the data for a new connection to the cloud, without any secret.
    - `things`: the requested resources that are not known to be gone, by name, in the order of the
      requests.
    - `asked_at`: the time of each request, in s since the epoch, by name of the resource.
    - `up_since`: the time when each existing resource was made, in s since the epoch, by name.
    """

    owner: str
    kind: str
    platform: str
    account: Mapping[str, str]
    things: dict[str, CloudResource] = field(default_factory=dict)
    asked_at: dict[str, float] = field(default_factory=dict)
    up_since: dict[str, float] = field(default_factory=dict)

    @property
    def is_abandoned(self) -> bool:
        """Whether the process that wrote the journal has ended."""
        return has_ended(self.owner)

    @property
    def instances(self) -> list[str]:
        """Names of the instances that exist."""
        instances = (name for name, thing in self.things.items() if thing.kind == INSTANCE)
        return [name for name in instances if name in self.up_since]

    def may_appear(self, thing: CloudResource, now: float) -> bool:
        """Return whether a missing resource may still appear, because its request is recent."""
        return not thing.id and now < self.asked_at[thing.name] + SETTLED_S

    def take(self, entry: Mapping[str, Any]) -> None:
        """Update the state by one line of the journal."""
        event = entry["what"]
        name = str(entry["name"])
        if event == "asked":
            self.things[name] = CloudResource(str(entry["kind"]), name)
            self.asked_at[name] = float(entry["at"])
        elif event == "made" and name in self.things:
            kind = self.things[name].kind
            self.things[name] = CloudResource(kind, name, str(entry["id"]))
            self.up_since[name] = float(entry["at"])
        elif event == "gone":
            self.things.pop(name, None)

    def is_of(self, kind: str, account: Mapping[str, str]) -> bool:
        """Return whether the journal is about an account of a kind of cloud."""
        return self.kind == kind and dict(self.account) == dict(account)


def folder_of(cache: Path) -> Path:
    """Return the folder of the journals."""
    return cache / "cloud" / "journals"


class Journal:
    """The journal of a group of instances that is in use."""

    def __init__(self, cache: Path, kind: str, platform: str, account: Mapping[str, str]) -> None:
        folder = folder_of(cache)
        owner = owner_mark()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        # No name is used twice by a process: an earlier resource may still exist.
        number = next(_NUMBERS)
        self.path = folder / f"{owner}-{number}.jsonl"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL
        self._file = os.open(self.path, flags, 0o600)
        self._torn = False
        self.prefix = f"{PREFIX}{owner}-{number}"
        self.story = JournalState(owner, kind, platform, dict(account))
        self._write({"owner": owner, "kind": kind, "platform": platform, "account": dict(account)})
        sync_folder(folder)

    def _write(self, entry: Mapping[str, Any]) -> None:
        line = json.dumps(entry) + "\n"
        if self._torn:
            line = "\n" + line
        self._torn = True
        unwritten = line.encode()
        while unwritten:
            written_bytes = os.write(self._file, unwritten)
            unwritten = unwritten[written_bytes:]
        self._torn = False
        os.fsync(self._file)

    def _add(self, event: str, name: str, **more: str) -> None:
        entry = {"what": event, "name": name, "at": time.time(), **more}
        self._write(entry)
        self.story.take(entry)

    def asked(self, thing: CloudResource) -> None:
        """Record a request before it is sent."""
        self._add("asked", thing.name, kind=thing.kind)

    def made(self, thing: CloudResource, id_: str) -> CloudResource:
        """Record that a resource exists, and return the resource with its id."""
        self._add("made", thing.name, id=id_)
        return self.story.things[thing.name]

    def gone(self, thing: CloudResource) -> None:
        """Record that a resource does not exist any more."""
        self._add("gone", thing.name)

    def close(self) -> None:
        """Close the journal; remove its file if no resource is left, else keep it for `clean`."""
        os.close(self._file)
        if not self.story.things:
            self.path.unlink(missing_ok=True)


def read_journal(path: Path) -> JournalState | None:
    """Read a journal; None if its first line was never written.

    An incomplete line is left out: its request was not sent. Complete lines may follow such a line,
    if the process could write again.
    """
    entries = _entries(path)
    try:
        head, *rest = entries
        story = JournalState(head["owner"], head["kind"], head["platform"], head["account"])
        for entry in rest:
            story.take(entry)
    except (ValueError, KeyError, TypeError):
        return None
    return story


def _entries(path: Path) -> list[Any]:
    """Return the JSON values in all complete lines of a journal."""
    entries = []
    text = path.read_text(encoding="utf-8", errors="replace")
    for line in text.splitlines():
        with suppress(ValueError):
            entries.append(json.loads(line))
    return entries


def journals(cache: Path) -> Iterator[tuple[Path, JournalState]]:
    """Yield the path and the content of every journal in the cache."""
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
    steward: AccountCleaner,
    things: Sequence[CloudResource],
    insist: Retries,
    gone: Callable[[CloudResource], None],
) -> list[CloudResource]:
    """Remove resources, and wait until they are gone; return the resources that existed.

    - `things`: the resources in the order of creation; a resource without an id is found by name.
    """
    present: list[CloudResource] = []
    for thing in things:
        ids = [thing.id] if thing.id else _ids_of(thing, steward, insist)
        if not ids:
            gone(thing)
        present += [replace(thing, id=id_) for id_ in ids]
    instances = [thing for thing in present if thing.kind == INSTANCE]
    _remove(steward, instances, insist, gone)
    # The resources of instances can only be removed after them.
    resources = [thing for thing in present if thing.kind != INSTANCE]
    resources.sort(key=lambda thing: -steward.kinds.index(thing.kind))
    _remove(steward, resources, insist, gone)
    return present


def _ids_of(thing: CloudResource, steward: AccountCleaner, insist: Retries) -> list[str]:
    """Return the ids of all resources in the cloud with the kind and name of `thing`."""
    return insist.ask(f"looking for {thing.name}", partial(steward.find, thing))


def _remove(
    steward: AccountCleaner,
    things: Sequence[CloudResource],
    insist: Retries,
    gone: Callable[[CloudResource], None],
) -> None:
    """Remove existing resources, and wait until they are gone."""
    for thing in things:
        insist.ask(f"removing {thing.name}", partial(steward.delete, thing))
    left = list(things)
    deadline = time.monotonic() + _GONE_S
    while left:
        for thing in list(left):
            is_gone = partial(steward.is_gone, thing)
            if insist.ask(f"looking for {thing.name}", is_gone):
                left.remove(thing)
                gone(thing)
        if left and time.monotonic() > deadline:
            raise PlatformError(
                f"the {left[0].kind} still exists {_GONE_S:.0f} s after the request to remove it",
                where=left[0].name,
                hint="`bareline platforms clean` tries again; the resource may cost money "
                "until then",
            )
        if left:
            time.sleep(_LOOK_S)


#: How a cloud is reached again, without any secret.
Account = Mapping[str, str]


def remember(cache: Path, kind: str, account: Account, *, keep: bool = True) -> None:
    """Record in the cache that a cloud account was used, so that `clean` checks the account.

    - `keep`: False removes the record.
    """
    path = _accounts_file(cache)
    entry = {"kind": kind, "account": dict(account)}
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with file_lock(path.with_suffix(".lock")):
        entries = _remembered(path)
        if (entry in entries) == keep:
            return
        remaining = [other for other in entries if other != entry]
        if keep:
            remaining.append(entry)
        replace_file(path, json.dumps(remaining))


def _accounts_file(cache: Path) -> Path:
    return cache / "cloud" / "accounts.json"


def _remembered(path: Path) -> list[Any]:
    """Return the entries of the file of accounts; empty if the file cannot be read."""
    with suppress(OSError, ValueError):
        entries = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(entries, list):
            return entries
    return []


def _accounts(cache: Path, kind: str) -> Iterator[dict[str, str]]:
    """Yield each account of a kind of cloud once, if the account was used or has a journal."""
    entries = _remembered(_accounts_file(cache))
    entries += [{"kind": story.kind, "account": story.account} for _, story in journals(cache)]
    seen = []
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("kind") != kind:
            continue
        account = entry.get("account")
        if isinstance(account, dict) and account not in seen:
            seen.append(account)
            yield {str(key): str(value) for key, value in account.items()}


def clean(
    cache: Path,
    kind: str,
    steward_of: Callable[[Account], AccountCleaner],
    only: Account | None = None,
) -> list[str]:
    """Remove the leftovers of killed bareline processes in clouds of a kind.

    Return a line for each leftover. Resources of other bareline processes, machines and users stay.
    Unless `only` is given, later calls no longer check an account without a journal, even if the
    cloud did not answer this time.
    """
    removed: list[str] = []
    for account in _accounts(cache, kind):
        if only is not None and account != dict(only):
            continue
        try:
            with file_lock(folder_of(cache) / ".clean"):
                patience = BackOff(most_s=60.0, waits_for_silent=only is not None)
                insist = Retries(_LOG.warning, patience)
                removed += _clean_account(cache, kind, account, steward_of(account), insist)
        except PlatformError as error:
            title = " ".join(account.values())
            removed.append(f"{kind} {title}: cannot be looked at, nothing is removed: {error}")
        if only is None and not _has_journal(cache, kind, account):
            remember(cache, kind, account, keep=False)
    return removed


def _has_journal(cache: Path, kind: str, account: Account) -> bool:
    return any(story.is_of(kind, account) for _, story in journals(cache))


def _clean_account(
    cache: Path, kind: str, account: Account, steward: AccountCleaner, insist: Retries
) -> list[str]:
    removed: list[CloudResource] = []
    for path, story in journals(cache):
        if story.is_of(kind, account) and story.is_abandoned:
            removed += _settle(path, story, steward, insist)
    marked = insist.ask("listing", lambda: list(steward.named(PREFIX)))
    stray = [thing for thing in marked if is_abandoned(thing.name)]
    stray.sort(key=lambda thing: steward.kinds.index(thing.kind))
    removed += remove(steward, stray, insist, lambda _: None)
    title = " ".join(account.values())
    return [f"{title}: {thing.kind} {thing.name} removed" for thing in removed]


def _settle(
    path: Path, story: JournalState, steward: AccountCleaner, insist: Retries
) -> list[CloudResource]:
    """Remove the resources of a journal; the journal stays if a resource may still appear."""
    things = list(story.things.values())
    gone: set[str] = set()
    removed = remove(steward, things, insist, lambda thing: gone.add(thing.name))
    present = {thing.name for thing in removed}
    now = time.time()
    missing = [thing for thing in things if thing.name not in present]
    expected = {thing.name for thing in missing if story.may_appear(thing, now)}
    if not expected:
        path.unlink(missing_ok=True)
        return removed
    # Removed resources are not looked for, nor reported, again.
    with path.open("a", encoding="utf-8") as file:
        for name in sorted(gone - expected):
            file.write(json.dumps({"what": "gone", "name": name}) + "\n")
    return removed


def running(cache: Path, kind: str, platform: str, now: float) -> str:
    """Describe resources of live bareline processes: ``2 instances for 0.4 h (process 123)``."""
    descriptions = []
    with suppress(OSError):
        for _, story in journals(cache):
            if story.kind != kind or story.platform != platform:
                continue
            if story.instances and not story.is_abandoned:
                descriptions.append(_use_of(story, now))
    return "; ".join(descriptions)


def _use_of(story: JournalState, now: float) -> str:
    """Describe the instances of a live process."""
    names = story.instances
    first_s = min(story.up_since[name] for name in names)
    hours = (now - first_s) / HOUR_S
    instances = count(len(names), "instance")
    return f"{instances} for {hours:.1f} h (process {owner_pid(story.owner)})"
