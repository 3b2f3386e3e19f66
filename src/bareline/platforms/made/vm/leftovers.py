"""The leftovers of a killed bareline process, and the files that list them.

Each platform in use has such a file, which a later process reads.

Guests are never left over, because their namespaces end with bareline (see `hypervisor`). A folder
may be left over. If the host's own network is used, a bridge and changed settings may also be left
over.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from bareline.host.owner import has_ended, owner_mark, owner_pid
from bareline.platforms.hosts.process import run_process
from bareline.vocabulary.files import replace_file
from bareline.vocabulary.model import Scalar

if TYPE_CHECKING:
    from bareline.platforms.made.vm.hypervisor import Hypervisor
    from bareline.platforms.made.vm.options import Tuning


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipFile:
    """The file that lists the folders, bridge and changed settings of a platform in use.

    - `folders`: the folder of the hypervisor, and the folder of the guests' disks.
    - `settings`: settings of the host that were changed, with their former values.
    """

    path: Path
    owner: str
    folders: Sequence[str]
    bridge: str | None = None
    settings: dict[str, str] = field(default_factory=dict)

    def write(self) -> None:
        """Write the present content to the file."""
        content = asdict(self)
        del content["path"]
        replace_file(self.path, json.dumps(content), durable=False)

    def add_setting(self, name: str, former: str) -> None:
        """Record the former value of a host setting, before it is changed."""
        self.settings[name] = former
        self.write()


def claims_folder(cache_folder: Path) -> Path:
    """Return the folder that contains a file for each platform in use."""
    return cache_folder / "vm" / "claims"


@contextmanager
def claimed(
    cache_folder: Path, folders: Sequence[Path], *, bridge: str | None = None
) -> Iterator[OwnershipFile]:
    """Write the file of a platform, and remove it when the platform is no longer in use.

    The file has the name of the first folder in `folders`.
    """
    path = claims_folder(cache_folder) / f"{folders[0].name}.json"
    on_disk = tuple(map(str, folders))
    claim = OwnershipFile(path=path, owner=owner_mark(), folders=on_disk, bridge=bridge)
    path.parent.mkdir(parents=True, exist_ok=True)
    claim.write()
    try:
        yield claim
    finally:
        _release(claim)
        path.unlink(missing_ok=True)


def clean(cache_folder: Path) -> list[str]:
    """Remove the leftovers of platforms of ended processes; return a line for each."""
    removed = []
    for path in sorted(claims_folder(cache_folder).glob("*.json")):
        try:
            claim = OwnershipFile(path=path, **json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            continue
        if not has_ended(claim.owner):
            continue
        process = owner_pid(claim.owner)
        removed += [
            f"virtual machines of process {process}: {removal}" for removal in _release(claim)
        ]
        path.unlink(missing_ok=True)
    return removed


def _release(claim: OwnershipFile) -> list[str]:
    undone = []
    for name, value in claim.settings.items():
        with contextlib.suppress(OSError):
            _place_of(name).write_text(value, encoding="ascii")
            undone.append(f"setting {name} is {value} again")
    if claim.bridge and Path("/sys/class/net", claim.bridge).exists():
        subprocess.run(["ip", "link", "delete", claim.bridge], capture_output=True, check=False)
        undone.append(f"bridge {claim.bridge} removed")
    for folder in claim.folders:
        if Path(folder).exists():
            shutil.rmtree(folder, ignore_errors=True)
            undone.append(f"folder {folder} removed")
    return undone


def _place_of(setting: str) -> Path:
    return Path("/proc/sys", *setting.split("."))


#: A shell script that sets values and prints ``name=before|after`` for each. Names and values come
#: as its arguments, never as script. A setting that does not exist in this network namespace, or
#: refuses, prints ``after`` as it stays.
SET_AND_SHOW = (
    'while [ $# -gt 1 ]; do f=/proc/sys/$(echo "$1" | tr . /); '
    'b=$(cat "$f" 2>/dev/null); echo "$2" > "$f" 2>/dev/null; '
    'echo "$1=$b|$(cat "$f" 2>/dev/null)"; shift 2; done'
)


def read_changes(text: str) -> dict[str, tuple[str, str]]:
    """Read the output of `SET_AND_SHOW`: for each setting, the values before and after."""
    changes = {}
    for line in text.splitlines():
        name, _, values = line.partition("=")
        before, bar, after = values.partition("|")
        if bar:
            changes[name] = (" ".join(before.split()), " ".join(after.split()))
    return changes


def tune_host(tuning: Tuning, hypervisor: Hypervisor, claim: OwnershipFile) -> dict[str, Scalar]:
    """Apply settings on the host; return the changes as facts.

    Most settings belong to a network namespace, and the guests have a separate one. A setting that
    is not separate for each namespace is changed for the whole host, and restored afterwards.
    """
    settings = tuning.settings()
    if not settings:
        return {}
    line = ["sh", "-c", SET_AND_SHOW, "sh", *chain(*settings.items())]
    changes = read_changes(run_process(hypervisor.inside(line), timeout_s=20.0).stdout)
    facts: dict[str, Scalar] = {}
    for name, value in settings.items():
        before, after = changes.get(name, ("", ""))
        if not before:
            before, after = _set_on_host(name, value, claim)
        facts[f"tuning.host.{name}"] = f"{before} -> {after}"
    return facts


def _set_on_host(name: str, value: str, claim: OwnershipFile) -> tuple[str, str]:
    path = _place_of(name)
    try:
        before = " ".join(path.read_text(encoding="ascii").split())
    except OSError:
        return "absent", "absent"
    claim.add_setting(name, before)
    with contextlib.suppress(OSError):
        path.write_text(value, encoding="ascii")
    return before, " ".join(path.read_text(encoding="ascii").split())
