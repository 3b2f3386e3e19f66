"""``bareline import``: existing outputs into a run, so that they compare like measured ones.

The user names their platform, or an output itself does, as ReFrame's outputs do. A trial is one
launch found in a file. Blocks contain the repetitions of a platform's cases, and platforms never
share a block: they were not measured together, so nothing is paired. A launch that is already in
the run is not imported again (`bareline.formats.launches`).

The trials wait in a temporary file until every file is known to be of a known format, so that
memory does not grow with their number.
"""

from __future__ import annotations

import copyreg
import itertools
import os
import pickle
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from bareline import __version__
from bareline.formats.damage import lost_only
from bareline.formats.files import FoundTrial, found_in
from bareline.formats.importer import load_importers
from bareline.formats.launches import (
    DOUBT,
    LaunchMark,
    Sameness,
    doubt,
    file_identity,
    identity_of,
    text_hash,
)
from bareline.formats.reading import UNTOLD, Reading, unread
from bareline.session.dating import launch_date
from bareline.session.imported import Imported, Intake
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.store.run_files import now
from bareline.vocabulary.dates import DATED_FACT
from bareline.vocabulary.errors import ParseError, StoreError, UsageError
from bareline.vocabulary.model import Case, Failed, Measured, Output, Record, Scalar, Stage, Trial
from bareline.vocabulary.platform import PLATFORM_NAME, PLATFORM_NAME_HINT, platform_name
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import count

_STUDY = {
    "name": "imported",
    "title": "Imported results",
    "description": "Existing outputs of benchmarks; bareline read them, but did not run them.",
}
_IMPORT = ("bareline", "import")


def import_files(
    files: Sequence[Path],
    platform: str | None,
    out: Path,
    *,
    title: str = "",
    ranks: int | None = None,
    date: datetime | None = None,
    skip_unknown: bool = False,
    unnamed: str | None = None,
) -> Intake:
    """Read existing outputs into a run, made if need be, as trials of their platforms.

    Nothing is written unless every file is of a known format.

    - `files`: outputs of one or more launches, gzipped or not; or folders, with every file.
    - `platform`: name that their platform gets in the run; None for outputs that name their own.
    - `out`: run directory: a new one, or one that an earlier import made.
    - `ranks`: number of ranks of outputs that do not contain it.
    - `date`: date of outputs that do not contain one; by default the times of their files.
    - `skip_unknown`: leave out files of no known format instead of refusing all.
    - `unnamed`: platform of outputs that do not name theirs.

    Raises ImportRefused: a file cannot be read or is of no known format.
    Raises UsageError: the platform's name is impossible, missing, or one for several platforms; or
    the run contains measured results.
    Raises StoreError: the run cannot be written.
    """
    check_platform(platform, ranks)
    skipped: list[Path] = []
    with Spool() as spool:
        for trial in found_in(files, skip_unknown=skip_unknown, skipped=skipped):
            spool.add(trial)
        names = ", ".join(dict.fromkeys(file.name for file in files))
        intake = take(spool, platform, out, names, title, ranks, Dates(date), unnamed)
        intake.skipped = tuple(skipped)
    return intake


def check_platform(platform: str | None, ranks: int | None) -> None:
    """Raise UsageError: a platform cannot have this name, or outputs not so many ranks."""
    if platform is not None and not PLATFORM_NAME.fullmatch(platform):
        raise UsageError(
            f"'{sanitized_name(platform)}' is not a valid name for a platform",
            where="--platform",
            hint=PLATFORM_NAME_HINT,
        )
    if ranks is not None and ranks < 1:
        raise UsageError(f"{ranks} is not a valid number of ranks", where="--ranks")


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates of launches: given by the user, and of the measured commit."""

    given: datetime | None = None
    committed: datetime | None = None


def take(
    spool: Spool,
    platform: str | None,
    out: Path,
    names: str,
    title: str,
    ranks: int | None,
    dates: Dates,
    unnamed: str | None = None,
) -> Intake:
    """Put the read trials into a run; parameters and errors as of `import_files`."""
    placed, unplaced = _placed(spool, platform, unnamed)
    titles = {name: title or placing.title for name, placing in placed.items()}
    run, header = _open(out, titles, spool.probes)
    intake = Intake(run)
    intake.lost += [f"{file}: {reason}" for file, reason in unplaced]
    with run.writing():
        if header != run.header:
            run.replace_header(header)
        for name, placing in placed.items():
            rows = _append(run, name, spool.read(placing.titles), ranks, dates, intake.lost)
            intake.rows += rows
            earlier = run.facts().get(name, {})
            run.write_facts(name, _facts(spool.facts, placing.titles, earlier))
            new = sum(row["trial"] is not None for row in rows)
            run.append_event(name, f"{count(new, 'trial')} imported from {names}")
    return intake


def explain_files(files: Sequence[Path], *, ranks: int | None = None) -> list[Imported]:
    """Return the trials that an import of files would recognise, without writing anything.

    Raises ImportRefused: a file cannot be read or is of no known format.
    """
    return [
        _row(trial, trial.imported.case(ranks), trial.imported.platform, None)
        for trial in found_in(files, skip_unknown=False, skipped=[])
    ]


@dataclass(frozen=True, slots=True)
class _Placing:
    """A platform of an import: its title, and the titles that its outputs give it."""

    title: str
    titles: tuple[str, ...]


class Spool:
    """Trials that were read, in a temporary file, and the declarations of all of them."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        self._offsets: dict[str, list[int]] = defaultdict(list)
        self._launch: tuple[str, int] = ("", 0)
        self.probes: dict[str, Mapping[str, Any]] = {}
        self.facts: dict[str, dict[str, dict[str, None]]] = {}
        self.first_file: dict[str, Path] = {}
        self.failed: dict[str, list[tuple[Path, str]]] = defaultdict(list)
        self.measured: set[str] = set()

    def __enter__(self) -> Spool:
        """Return the spool itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the temporary file."""
        self._file.close()

    @property
    def titles(self) -> list[str]:
        """The outputs' names of their platforms, "" where one does not name it."""
        return list(self._offsets)

    def add(self, found: FoundTrial) -> None:
        """Keep a trial for later."""
        title = found.imported.platform
        self._file.seek(0, os.SEEK_END)
        # The trials of a launch follow each other: its text is kept once.
        if found.launch != self._launch[0]:
            self._launch = (found.launch, self._file.tell())
            self._dump(found.launch)
            facts = self.facts.setdefault(title, {})
            for key, fact in found.importer.facts(found.launch).items():
                facts.setdefault(key, {})[str(fact)] = None
        self._offsets[title].append(self._file.tell())
        fields = (found.file, found.importer.name, self._launch[1], found.imported)
        self._dump((*fields, found.first_line, found.occurrence))
        self.first_file.setdefault(title, found.file)
        _declare(self.probes, found.imported)
        outcome = found.imported.outcome
        if isinstance(outcome, Failed):
            if not title:
                self.failed[title].append((found.file, outcome.reason))
        else:
            self.measured.add(title)

    def _dump(self, content: object) -> None:
        pickler = pickle.Pickler(self._file)
        pickler.dispatch_table = copyreg.dispatch_table.copy()
        pickler.dispatch_table[MappingProxyType] = _reduced
        pickler.dump(content)

    def read(self, titles: Iterable[str]) -> Iterator[FoundTrial]:
        """Yield the trials whose platforms have one of these titles, in the order of `add`."""
        importers = load_importers()
        for offset in sorted(offset for title in titles for offset in self._offsets[title]):
            self._file.seek(offset)
            file, name, launch_at, imported, first_line, occurrence = pickle.load(self._file)
            self._file.seek(launch_at)
            launch = pickle.load(self._file)
            yield FoundTrial(file, importers[name], launch, imported, first_line, occurrence)


def _reduced(mapping: MappingProxyType[Any, Any]) -> tuple[Any, tuple[dict[Any, Any]]]:
    """Return the function and arguments that rebuild a read-only mapping, for pickle."""
    return _read_only, (dict(mapping),)


def _read_only(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(mapping)


def _placed(
    spool: Spool, platform: str | None, unnamed: str | None
) -> tuple[dict[str, _Placing], list[tuple[Path, str]]]:
    """Return the platforms, and the failures in files that name platforms but not its own."""
    titles = sorted(title for title in spool.titles if title)
    if platform is None and not titles:
        platform = unnamed
    if platform is not None:
        if len(titles) > 1:
            listed = ", ".join(map(sanitized_name, titles[:5]))
            raise UsageError(
                f"the outputs are of {len(titles)} platforms: {listed}",
                where="--platform",
                hint="leave --platform out, or import their files one platform at a time",
            )
        return {platform: _Placing(titles[0] if titles else "", tuple(spool.titles))}, []
    if "" in spool.titles and ("" in spool.measured or not titles):
        raise UsageError(
            "does not say its platform",
            where=str(spool.first_file[""]),
            hint="name it with --platform, or leave the file out",
        )
    named = {platform_name(title): _Placing(title, (title,)) for title in spool.titles if title}
    if len(named) < len(titles):
        raise UsageError(
            f"platforms have names that are too much alike: {', '.join(titles[:5])}",
            hint="import their files one platform at a time with --platform",
        )
    return named, spool.failed[""]


def _open(
    out: Path, titles: Mapping[str, str], declared: Mapping[str, Mapping[str, Any]]
) -> tuple[Run, Header]:
    run = Run.open(out) if (out / "run.toml").exists() else None
    if run is not None and not run.header.imported:
        raise UsageError(
            "contains measured results; imported ones go into a run of their own",
            where=str(out),
            hint="choose another --out; `bareline compare` takes several runs",
        )
    if run is not None:
        header = run.header
    else:
        header = Header(
            study={"study": _STUDY},
            probes={},
            platforms={},
            baseline=next(iter(titles)),
            seed=0,
            created=now(),
            versions={"bareline": __version__},
        )
    platforms = dict(header.platforms)
    for name, title in titles.items():
        table = platforms.get(name, {"type": "import"})
        platforms[name] = {**table, **({"title": title} if title else {})}
    probes = dict(header.probes)
    for probe, declaration in declared.items():
        _join_declaration(probes, probe, declaration)
    header = replace(header, platforms=platforms, probes=probes)
    return run or Run.create(out, header), header


def _declare(probes: dict[str, Mapping[str, Any]], imported: Reading) -> None:
    _join_declaration(probes, imported.probe, imported.declaration())


def _join_declaration(
    probes: dict[str, Mapping[str, Any]], probe: str, new: Mapping[str, Any]
) -> None:
    """Add the declaration of a trial; outputs of one program may have more or fewer columns."""
    old = probes.get(probe, new)
    if old["metrics"].keys() == UNTOLD.keys():
        old = new
    elif new["metrics"].keys() == UNTOLD.keys():
        new = old
    probes[probe] = {**old, "metrics": {**new["metrics"], **old["metrics"]}}


class _KnownLaunches:
    """The launches of a platform that a run has, by case and text."""

    def __init__(self, run: Run, platform: str, records: Iterable[Record]) -> None:
        self._run = run
        self._records: dict[tuple[Case, str], list[Record]] = defaultdict(list)
        self._marks: dict[tuple[Case, str], list[LaunchMark]] = defaultdict(list)
        for record in records:
            if record.trial.platform == platform and (launch := _launch_of(run, record)):
                self._records[record.trial.case, launch].append(record)

    def sameness(self, case: Case, launch: str, mark: LaunchMark) -> tuple[Sameness, list[str]]:
        """Return whether a launch is there, and the files of those with its text."""
        key = (case, launch)
        for record in self._records.pop(key, []):
            path = _file_of(self._run, record)
            file = file_identity(path) if path else ""
            occurrence = sum(each.file == file for each in self._marks[key])
            self._marks[key].append(LaunchMark(mark.identity, file, occurrence))
        marks = self._marks[key]
        sameness = mark.sameness(marks)
        files = [each.file for each in marks if each.file != mark.file]
        if sameness is not Sameness.SAME:
            marks.append(mark)
        return sameness, files


def _file_of(run: Run, record: Record) -> str:
    """Return the file that a trial was imported from; "" where its raw output is gone."""
    output = run.read_raw(record.trial)
    return output.argv[-1] if output and len(output.argv) == len(_IMPORT) + 1 else ""


def _append(
    run: Run,
    platform: str,
    read_trials: Iterable[FoundTrial],
    ranks: int | None,
    dates: Dates,
    lost: list[str],
) -> list[Imported]:
    finished = run.heads()
    launches = _KnownLaunches(run, platform, finished.values())
    block_of = _blocks(finished.values(), platform)
    index = max(finished, default=-1) + 1
    rows = []
    sources: set[str] = set()
    for item in read_trials:
        case = item.imported.case(ranks)
        launch = text_hash(item.launch)
        file = file_identity(item.file)
        mark = LaunchMark(identity_of(item.importer, item.launch), file, item.occurrence)
        sameness, files = launches.sameness(case, launch, mark)
        fresh = sameness is not Sameness.SAME
        rows.append(_row(item, case, platform, index if fresh else None))
        if not fresh:
            continue
        lost += [f"{item.file}: {words}" for words in lost_only(item.left_out)]
        trial = Trial(index=index, block=block_of(case), platform=platform, case=case, layout=None)
        argv = (*_IMPORT, str(item.file.absolute()))
        run.write_raw(
            trial, Output(stdout=item.launch, stderr="", exit_code=0, duration_s=0.0, argv=argv)
        )
        printed = item.importer.started(item.launch)
        began = launch_date(printed, dates.given, item.file, dates.committed)
        sources.add(began.source.value)
        doubts = (doubt(files),) if sameness is Sameness.UNKNOWN else ()
        run.append(
            Record(
                trial=trial,
                outcome=item.imported.outcome,
                started=began.text,
                duration_s=0.0,
                caveats=(*_caveats(item.imported, case), *doubts),
                launch=launch,
            )
        )
        index += 1
    if sources:
        facts = run.facts().get(platform, {})
        before = str(facts.get(DATED_FACT, "")).split("; ")
        dated = "; ".join(sorted(sources.union(filter(None, before))))
        run.write_facts(platform, {**facts, DATED_FACT: dated})
    return rows


def _launch_of(run: Run, record: Record) -> str:
    """Return the hash of a trial's launch; the records of older runs have only its output."""
    output = None if record.launch else run.read_raw(record.trial)
    return text_hash(output.stdout) if output else record.launch


def _blocks(records: Iterable[Record], platform: str) -> Callable[[Case], int]:
    """Return a function that gives a block to each repetition of a platform's cases."""
    trials = [record.trial for record in records]
    used = sorted({trial.block for trial in trials if trial.platform == platform})
    unused = itertools.count(max((trial.block for trial in trials), default=-1) + 1)
    taken = Counter(trial.case for trial in trials if trial.platform == platform)

    def block_of(case: Case) -> int:
        taken[case] += 1
        if taken[case] > len(used):
            used.append(next(unused))
        return used[taken[case] - 1]

    return block_of


def _caveats(imported: Reading, case: Case) -> tuple[str, ...]:
    unknown = () if case.ranks else ("the output does not say its number of ranks",)
    lost = lost_only(imported.left_out)
    partial = (f"{count(len(lost), 'value or row', 'values or rows')} left out",) if lost else ()
    return ("imported", *imported.caveats, *unknown, *partial)


def _row(read_trial: FoundTrial, case: Case, platform: str, trial: int | None) -> Imported:
    outcome = read_trial.imported.outcome
    failed = outcome if isinstance(outcome, Failed) else None
    return row_of(
        Imported,
        case,
        file=str(read_trial.file),
        format=read_trial.importer.name,
        trial=trial,
        platform=platform,
        ranks=case.ranks or None,
        status="failed" if failed else "measured",
        reason=failed.reason if failed else None,
        samples=len(outcome.samples) if isinstance(outcome, Measured) else 0,
        first_line=read_trial.first_line,
        left_out=[str(each) for each in read_trial.left_out],
        ignored=list(read_trial.imported.ignored),
    )


def _facts(
    facts: Mapping[str, Mapping[str, Iterable[str]]],
    titles: Iterable[str],
    earlier: Mapping[str, Scalar],
) -> dict[str, Scalar]:
    """Join the facts of a platform in all outputs; where they disagree, all values of a fact."""
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for key, value in earlier.items():
        texts[key] = dict.fromkeys(str(value).split("; "))
    for title in titles:
        for key, words in facts.get(title, {}).items():
            texts[key].update(dict.fromkeys(words))
    return {key: "; ".join(values) for key, values in texts.items()}


def read_again(
    case: Case, launch: str, known: Iterable[str] = ()
) -> tuple[Measured | Failed, tuple[str, ...]]:
    """Read an imported trial's raw output with the importers of today: outcome and caveats.

    - `known`: caveats that the trial has; a doubt about its launch stays.

    A trial that was imported when fewer settings made a case keeps its case.

    Raises StoreError: no importer gives such a probe.
    """
    importer = load_importers().get(case.probe.partition(".")[0])
    if importer is None:
        raise StoreError(f"no importer gives the probe '{case.probe}'", hint="update bareline")
    doubts = tuple(caveat for caveat in known if caveat.startswith(DOUBT))
    try:
        readings = list(importer.parse(launch))
    except ParseError as error:
        return unread(error), ("imported", *doubts)
    same = [each for each in readings if each.case(case.ranks) == case]
    wider = [each for each in readings if _is_wider(each.case(case.ranks), case)]
    chosen = same or (wider if len(wider) == 1 else [])
    if not chosen:
        reason = f"the output has no {case.label} any more"
        return Failed(Stage.PARSE, reason), ("imported", *doubts)
    return chosen[0].outcome, (*_caveats(chosen[0], case), *doubts)


def _is_wider(case: Case, old: Case) -> bool:
    """Whether a case is an old one with settings that did not make a case then."""
    settings, before = set(case.params.split()), set(old.params.split())
    return case.probe == old.probe and before <= settings
