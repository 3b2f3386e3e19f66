"""``bareline import``: read existing outputs into a run, to compare them like measured ones.

The user names the platform of the outputs, or an output contains its name (ReFrame's outputs do). A
trial is one launch in a file. Each repetition of a case is in another block. Platforms never share
a block, because they were not measured together; so no launches are paired. A launch that is
already in the run is not imported again (`bareline.formats.launches`).

Nothing is written before every file is known to have a known format (`bareline.session.spool`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

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
from bareline.formats.reading import Reading, unread
from bareline.session.dating import launch_date
from bareline.session.imported import Imported, Intake
from bareline.session.spool import Declarations, Spool, join_declaration
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
    """Read existing outputs into a run, created if necessary, as trials of their platforms.

    Nothing is written unless every file has a known format.

    - `files`: outputs of one or more launches, gzipped or not; or folders of such files.
    - `platform`: the platform's name in the run; None if the outputs name their platforms.
    - `out`: the run directory: a new directory, or the directory of an earlier import.
    - `ranks`: the number of ranks of outputs that do not contain it.
    - `date`: the date of outputs that do not contain one; by default the timestamps of their files.
    - `skip_unknown`: leave out files of unknown formats instead of refusing all files.
    - `unnamed`: the platform of outputs that do not name a platform.

    Raises ImportRefused: a file cannot be read or has an unknown format.
    Raises UsageError: the platform's name is not valid or missing, or the outputs are of several
        platforms; or the run contains measured results.
    Raises StoreError: the run cannot be written.
    """
    check_platform(platform, ranks)
    options = ImportOptions(platform=platform, title=title, ranks=ranks, date=date, unnamed=unnamed)
    skipped: list[Path] = []
    with Spool() as spool:
        for trial in found_in(files, skip_unknown=skip_unknown, skipped=skipped):
            spool.add(trial)
        intake = take(spool, out, [file.name for file in files], options)
        intake.skipped = tuple(skipped)
    return intake


def check_platform(platform: str | None, ranks: int | None) -> None:
    """Raise UsageError if the platform's name or the number of ranks is not valid."""
    if platform is not None and not PLATFORM_NAME.fullmatch(platform):
        raise UsageError(
            f"'{sanitized_name(platform)}' is not a valid name for a platform",
            where="--platform",
            hint=PLATFORM_NAME_HINT,
        )
    if ranks is not None and ranks < 1:
        raise UsageError(f"{ranks} is not a valid number of ranks", where="--ranks")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportOptions:
    """Information that the user adds to outputs that lack it; fields as in `import_files`.

    - `committed`: the date of the measured commit.
    """

    platform: str | None = None
    title: str = ""
    ranks: int | None = None
    date: datetime | None = None
    committed: datetime | None = None
    unnamed: str | None = None


def take(spool: Spool, out: Path, files: Iterable[str], options: ImportOptions) -> Intake:
    """Write the trials of files with these names into a run; errors are as in `import_files`."""
    placed = _placed(spool, options)
    titles = {name: options.title or placing.title for name, placing in placed.items()}
    run, header = _open(out, titles, spool.probes)
    intake = Intake(run)
    if not any("" in placing.titles for placing in placed.values()):
        intake.lost += [f"{file}: {reason}" for file, reason in spool.failed]
    file_names = ", ".join(dict.fromkeys(files))
    with run.writing():
        if header != run.header:
            run.replace_header(header)
        for name, placing in placed.items():
            additions = _Additions(run, name, options)
            rows = [additions.add(trial) for trial in spool.read(placing.titles)]
            additions.write_dates()
            intake.lost += additions.lost
            intake.rows += rows
            earlier = run.facts().get(name, {})
            run.write_facts(name, _facts(spool.facts, placing.titles, earlier))
            new = sum(row["trial"] is not None for row in rows)
            run.append_event(name, f"{count(new, 'trial')} imported from {file_names}")
    return intake


def explain_files(files: Sequence[Path], *, ranks: int | None = None) -> list[Imported]:
    """Return the trials that an import of files would recognise, without writing anything.

    Raises ImportRefused: a file cannot be read or has an unknown format.
    """
    rows = []
    for trial in found_in(files, skip_unknown=False, skipped=[]):
        reading = trial.imported
        rows.append(_row(trial, reading.case(ranks), reading.platform, None))
    return rows


@dataclass(frozen=True, slots=True)
class _Placing:
    """A platform of an import: its title in the run, and its titles in the outputs."""

    title: str
    titles: tuple[str, ...]


def _placed(spool: Spool, options: ImportOptions) -> dict[str, _Placing]:
    """Return the platforms by name; unreadable files may belong to no platform."""
    titles = sorted(title for title in spool.titles if title)
    platform = options.platform
    if platform is None and not titles:
        platform = options.unnamed
    if platform is not None:
        return {platform: _all_on_one(spool, titles)}
    if "" in spool.titles and ("" in spool.measured or not titles):
        raise UsageError(
            "the file does not contain the name of its platform",
            where=str(spool.first_file[""]),
            hint="name it with --platform, or leave the file out",
        )
    named = {platform_name(title): _Placing(title, (title,)) for title in spool.titles if title}
    if len(named) < len(titles):
        raise UsageError(
            f"the names of these platforms are too similar: {', '.join(titles[:5])}",
            hint="import their files one platform at a time with --platform",
        )
    return named


def _all_on_one(spool: Spool, titles: Sequence[str]) -> _Placing:
    """Return the platform of all outputs; raises UsageError: the outputs name several platforms."""
    if len(titles) > 1:
        listed = ", ".join(map(sanitized_name, titles[:5]))
        raise UsageError(
            f"one platform is given, but the outputs are from {len(titles)} platforms: {listed}",
            where="--platform",
            hint="leave --platform out, or import their files one platform at a time",
        )
    title = titles[0] if titles else ""
    return _Placing(title, tuple(spool.titles))


def _open(out: Path, titles: Mapping[str, str], declared: Declarations) -> tuple[Run, Header]:
    """Return the run, created if necessary, and its new header with these platforms."""
    run = None
    if (out / "run.toml").exists():
        run = Run.open(out)
        if not run.header.imported:
            raise UsageError(
                "this run contains measured results; imported results need another run",
                where=str(out),
                hint="choose another --out; `bareline compare` takes several runs",
            )
    header = run.header if run else _new_header(baseline=next(iter(titles)))
    platforms = dict(header.platforms)
    for name, title in titles.items():
        table = dict(platforms.get(name, {"type": "import"}))
        if title:
            table["title"] = title
        platforms[name] = table
    probes = dict(header.probes)
    for probe, declaration in declared.items():
        join_declaration(probes, probe, declaration)
    header = replace(header, platforms=platforms, probes=probes)
    return run or Run.create(out, header), header


def _new_header(baseline: str) -> Header:
    return Header(
        study={"study": _STUDY},
        probes={},
        platforms={},
        baseline=baseline,
        seed=0,
        created=now(),
        versions={"bareline": __version__},
    )


class _LaunchesOfRun:
    """The launches that a run already contains for a platform, by case and output hash."""

    def __init__(self, run: Run, platform: str, records: Iterable[Record]) -> None:
        self._run = run
        self._records: dict[tuple[Case, str], list[Record]] = defaultdict(list)
        self._marks: dict[tuple[Case, str], list[LaunchMark]] = defaultdict(list)
        for record in records:
            if record.trial.platform == platform:
                launch = _launch_of(run, record)
                if launch:
                    self._records[record.trial.case, launch].append(record)

    def sameness(self, case: Case, launch: str, mark: LaunchMark) -> tuple[Sameness, list[str]]:
        """Return whether the run contains this launch, and other files with the same output."""
        key = (case, launch)
        marks = self._marks[key]
        for record in self._records.pop(key, []):
            path = _file_of(self._run, record)
            file = file_identity(path) if path else ""
            occurrence = sum(earlier.file == file for earlier in marks)
            marks.append(LaunchMark(mark.identity, file, occurrence))
        sameness = mark.sameness(marks)
        files = [earlier.file for earlier in marks if earlier.file != mark.file]
        if sameness is not Sameness.SAME:
            marks.append(mark)
        return sameness, files


def _file_of(run: Run, record: Record) -> str:
    """Return the file from which a trial was imported; "" if its raw output is missing."""
    output = run.read_raw(record.trial)
    if output is None or len(output.argv) != len(_IMPORT) + 1:
        return ""
    return output.argv[-1]


class _Additions:
    """The trials of a platform that are added to a run.

    - `lost`: the values and rows that were left out, with their files and reasons.
    """

    def __init__(self, run: Run, platform: str, options: ImportOptions) -> None:
        earlier = run.heads()
        self._run = run
        self._platform = platform
        self._options = options
        self._launches = _LaunchesOfRun(run, platform, earlier.values())
        self._blocks = _Blocks([record.trial for record in earlier.values()], platform)
        self._index = max(earlier, default=-1) + 1
        self._date_sources: set[str] = set()
        self.lost: list[str] = []

    def add(self, read_trial: FoundTrial) -> Imported:
        """Add a trial, unless the run already contains its launch; return a row about the trial."""
        case = read_trial.imported.case(self._options.ranks)
        launch = text_hash(read_trial.launch)
        identity = identity_of(read_trial.importer, read_trial.launch)
        mark = LaunchMark(identity, file_identity(read_trial.file), read_trial.occurrence)
        sameness, files = self._launches.sameness(case, launch, mark)
        if sameness is Sameness.SAME:
            return _row(read_trial, case, self._platform, None)
        self.lost += [f"{read_trial.file}: {words}" for words in lost_only(read_trial.left_out)]
        trial = Trial(
            index=self._index,
            block=self._blocks.next_of(case),
            platform=self._platform,
            case=case,
            layout=None,
        )
        self._index += 1
        argv = (*_IMPORT, str(read_trial.file.absolute()))
        output = Output(stdout=read_trial.launch, stderr="", exit_code=0, duration_s=0.0, argv=argv)
        self._run.write_raw(trial, output)
        caveats = _caveats(read_trial.imported, case)
        if sameness is Sameness.UNKNOWN:
            caveats = (*caveats, doubt(files))
        record = Record(
            trial=trial,
            outcome=read_trial.imported.outcome,
            started=self._start(read_trial),
            duration_s=0.0,
            caveats=caveats,
            launch=launch,
        )
        self._run.append(record)
        return _row(read_trial, case, self._platform, trial.index)

    def _start(self, read_trial: FoundTrial) -> str:
        printed = read_trial.importer.started(read_trial.launch)
        options = self._options
        began = launch_date(printed, options.date, read_trial.file, options.committed)
        self._date_sources.add(began.source.value)
        return began.text

    def write_dates(self) -> None:
        """Write a platform fact: the kinds of sources from which its trials have their dates."""
        if not self._date_sources:
            return
        facts = self._run.facts().get(self._platform, {})
        before = str(facts.get(DATED_FACT, "")).split("; ")
        sources = self._date_sources.union(filter(None, before))
        dated = {**facts, DATED_FACT: "; ".join(sorted(sources))}
        self._run.write_facts(self._platform, dated)


def _launch_of(run: Run, record: Record) -> str:
    """Return the hash of a trial's output; "" if neither the record nor the run contains it."""
    if record.launch:
        return record.launch
    output = run.read_raw(record.trial)
    return text_hash(output.stdout) if output else ""


class _Blocks:
    """The blocks of a platform's trials: each repetition of a case is in the next block."""

    def __init__(self, trials: Sequence[Trial], platform: str) -> None:
        of_platform = [trial for trial in trials if trial.platform == platform]
        self._used = sorted({trial.block for trial in of_platform})
        self._repetitions = Counter(trial.case for trial in of_platform)
        self._unused = max((trial.block for trial in trials), default=-1) + 1

    def next_of(self, case: Case) -> int:
        """Return the block of the next trial of a case; no other platform uses this block."""
        number = self._repetitions[case]
        self._repetitions[case] += 1
        if number == len(self._used):
            self._used.append(self._unused)
            self._unused += 1
        return self._used[number]


def _caveats(imported: Reading, case: Case) -> tuple[str, ...]:
    caveats = ["imported", *imported.caveats]
    if not case.ranks:
        caveats.append("the output does not say its number of ranks")
    lost = lost_only(imported.left_out)
    if lost:
        caveats.append(f"{count(len(lost), 'value or row', 'values or rows')} left out")
    return tuple(caveats)


def _row(read_trial: FoundTrial, case: Case, platform: str, trial: int | None) -> Imported:
    outcome = read_trial.imported.outcome
    row = row_of(
        Imported,
        case,
        file=str(read_trial.file),
        format=read_trial.importer.name,
        trial=trial,
        platform=platform,
        ranks=case.ranks or None,
        status="measured",
        reason=None,
        samples=0,
        first_line=read_trial.first_line,
        left_out=list(map(str, read_trial.left_out)),
        ignored=list(read_trial.imported.ignored),
    )
    if isinstance(outcome, Failed):
        row["status"] = "failed"
        row["reason"] = outcome.reason
    else:
        row["samples"] = len(outcome.samples)
    return row


def _facts(
    facts: Mapping[str, Mapping[str, Iterable[str]]],
    titles: Iterable[str],
    earlier: Mapping[str, Scalar],
) -> dict[str, Scalar]:
    """Join the facts of a platform from all outputs; a fact lists all its different values."""
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
    """Parse the output of an imported trial again; return the outcome and the caveats.

    - `case`: the trial's case. It stays the same, even if importers now find more settings.
    - `known`: the earlier caveats. A caveat about a possible second import is kept.

    Raises StoreError: no importer provides this probe.
    """
    importer = load_importers().get(case.probe.partition(".")[0])
    if importer is None:
        raise StoreError(f"no importer reads the probe '{case.probe}'", hint="update bareline")
    doubts = [caveat for caveat in known if caveat.startswith(DOUBT)]
    try:
        readings = list(importer.parse(launch))
    except ParseError as error:
        return unread(error), ("imported", *doubts)
    chosen = _reading_of(case, readings)
    if chosen is None:
        reason = f"the output has no {case.label} any more"
        return Failed(Stage.PARSE, reason), ("imported", *doubts)
    return chosen.outcome, (*_caveats(chosen, case), *doubts)


def _reading_of(case: Case, readings: Sequence[Reading]) -> Reading | None:
    """Return the first of some parsed results that belongs to a case.

    If there is none, return the only result that has all settings of the case and more, or None.
    """
    same = [reading for reading in readings if reading.case(case.ranks) == case]
    if same:
        return same[0]
    wider = [reading for reading in readings if _is_wider(reading.case(case.ranks), case)]
    return wider[0] if len(wider) == 1 else None


def _is_wider(case: Case, old: Case) -> bool:
    """Whether a case has all settings of the case `old`, and maybe further settings."""
    settings = set(case.params.split())
    return case.probe == old.probe and settings.issuperset(old.params.split())
