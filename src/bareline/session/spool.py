"""Keep the trials of an import in a temporary file until every file is known to be readable.

So the use of memory does not grow with the number of trials.
"""

from __future__ import annotations

import copyreg
import os
import pickle
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bareline.formats.files import FoundTrial
from bareline.formats.importer import load_importers
from bareline.formats.reading import UNTOLD, Reading
from bareline.vocabulary.model import Failed

#: The declarations of probes, by name.
Declarations = Mapping[str, Mapping[str, Any]]


class Spool:
    """Imported trials in a temporary file, and the declarations of all these trials.

    - `facts`: for each platform title and each key of a fact, the values in the platform's outputs,
      in the order of the outputs.
    - `failed`: for outputs that do not name their platform, the file and reason of each failure.
    - `measured`: the titles of platforms with a measured trial.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._offsets: dict[str, list[int]] = defaultdict(list)
        self._launch = _SpooledLaunch("", 0)
        self.probes: dict[str, Mapping[str, Any]] = {}
        self.facts: dict[str, dict[str, dict[str, None]]] = {}
        self.first_file: dict[str, Path] = {}
        self.failed: list[tuple[Path, str]] = []
        self.measured: set[str] = set()

    def __enter__(self) -> Spool:
        """Return the spool itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the temporary file."""
        self._file.close()

    @property
    def titles(self) -> list[str]:
        """The names of platforms in the outputs; "" for outputs that name no platform."""
        return list(self._offsets)

    def add(self, read_trial: FoundTrial) -> None:
        """Keep a trial for later."""
        reading = read_trial.imported
        title = reading.platform
        self._file.seek(0, os.SEEK_END)
        # The trials of a launch follow each other: its text is kept once.
        if read_trial.launch != self._launch.text:
            self._launch = _SpooledLaunch(read_trial.launch, self._file.tell())
            self._dump(read_trial.launch)
            self._add_facts(read_trial)
        self._offsets[title].append(self._file.tell())
        self._dump(_SpooledTrial.of(read_trial, self._launch.offset))
        self.first_file.setdefault(title, read_trial.file)
        join_declaration(self.probes, reading.probe, reading.declaration())
        if not isinstance(reading.outcome, Failed):
            self.measured.add(title)
        elif not title:
            self.failed.append((read_trial.file, reading.outcome.reason))

    def _add_facts(self, read_trial: FoundTrial) -> None:
        facts = self.facts.setdefault(read_trial.imported.platform, {})
        for key, fact in read_trial.importer.facts(read_trial.launch).items():
            facts.setdefault(key, {})[str(fact)] = None

    def _dump(self, content: object) -> None:
        pickler = pickle.Pickler(self._file)
        pickler.dispatch_table = copyreg.dispatch_table.copy()
        pickler.dispatch_table[MappingProxyType] = _reduced
        pickler.dump(content)

    def _load(self, offset: int) -> Any:
        self._file.seek(offset)
        return pickle.load(self._file)

    def read(self, titles: Iterable[str]) -> Iterator[FoundTrial]:
        """Yield the trials whose platforms have one of these titles, in the order of `add`."""
        offsets: list[int] = []
        for title in titles:
            offsets += self._offsets[title]
        for offset in sorted(offsets):
            trial: _SpooledTrial = self._load(offset)
            yield trial.restored(launch=self._load(trial.launch_offset))


@dataclass(frozen=True, slots=True)
class _SpooledLaunch:
    """The text of a launch, and its position in the file."""

    text: str
    offset: int


@dataclass(frozen=True, slots=True)
class _SpooledTrial:
    """A trial in the temporary file, with its importer's name and the position of its launch."""

    file: Path
    importer: str
    launch_offset: int
    imported: Reading
    first_line: int
    occurrence: int

    @classmethod
    def of(cls, read_trial: FoundTrial, launch_offset: int) -> _SpooledTrial:
        return cls(
            read_trial.file,
            read_trial.importer.name,
            launch_offset,
            read_trial.imported,
            read_trial.first_line,
            read_trial.occurrence,
        )

    def restored(self, launch: str) -> FoundTrial:
        """Return the trial as `Spool.add` received it."""
        importer = load_importers()[self.importer]
        return FoundTrial(
            self.file, importer, launch, self.imported, self.first_line, self.occurrence
        )


def _reduced(mapping: MappingProxyType[Any, Any]) -> tuple[Any, tuple[dict[Any, Any]]]:
    """Return the function and arguments that rebuild a read-only mapping, for pickle."""
    return _read_only, (dict(mapping),)


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


def join_declaration(
    probes: dict[str, Mapping[str, Any]], probe: str, new: Mapping[str, Any]
) -> None:
    """Add a trial's metrics to the metrics of its probe; outputs may have different columns."""
    old = probes.get(probe, new)
    if old["metrics"].keys() == UNTOLD.keys():
        old = new
    elif new["metrics"].keys() == UNTOLD.keys():
        new = old
    probes[probe] = {**old, "metrics": {**new["metrics"], **old["metrics"]}}
