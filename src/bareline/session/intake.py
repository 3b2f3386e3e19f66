"""``bareline import``: existing outputs into a run, so that they compare like measured ones.

Their platform is the one that the user names, or the one that an output names itself, as those of
ReFrame do. A trial is one launch found in a file. Blocks hold the repetitions of a platform's
cases and are never shared by platforms: nobody measured them in common, so nothing is paired. A
launch that the run has already is not taken twice, for two copies of one output are still one
trial.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from typing_extensions import TypedDict

from bareline import __version__
from bareline.formats.files import FoundTrial, read_files
from bareline.formats.importer import load_importers
from bareline.formats.reading import UNTOLD, Reading
from bareline.store.beside import now
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.vocabulary.errors import ParseError, StoreError, UsageError
from bareline.vocabulary.model import Case, Failed, Measured, Output, Record, Scalar, Stage, Trial
from bareline.vocabulary.platform import PLATFORM_NAME, PLATFORM_NAME_HINT, platform_name
from bareline.vocabulary.rows import row_of
from bareline.vocabulary.texts import shown_name
from bareline.vocabulary.units import count

_STUDY = {
    "name": "imported",
    "title": "Imported results",
    "description": "Existing outputs of benchmarks; bareline read them, but did not run them.",
}


class Imported(TypedDict):
    """``import``: a trial that a file brought; null where the run had it already."""

    file: str
    format: str
    trial: int | None
    platform: str
    probe: str
    params: str
    ranks: int | None
    status: Literal["measured", "failed"]
    reason: str | None
    samples: int


@dataclass(slots=True)
class Intake:
    """What an import came to: the run, and in `skipped` the files of no known format."""

    run: Run
    rows: list[Imported] = field(default_factory=list)
    skipped: tuple[Path, ...] = ()

    @property
    def failed(self) -> int:
        """Number of new trials that hold no numbers."""
        return sum(row["trial"] is not None and row["status"] == "failed" for row in self.rows)

    def lines(self) -> list[str]:
        """Say in lines for people what was imported, and how little one trial says."""
        lines = []
        formats: dict[str, list[Imported]] = defaultdict(list)
        for row in self.rows:
            formats[row["format"]].append(row)
        for name, rows in formats.items():
            files = len({row["file"] for row in rows})
            new = [row for row in rows if row["trial"] is not None]
            line = f"{load_importers()[name].title}: {count(len(new), 'trial')} from "
            line += count(files, "file")
            if len(new) < len(rows):
                line += f", {len(rows) - len(new)} already there"
            lines.append(line)
        for row in self.rows:
            if row["trial"] is not None and row["status"] == "failed":
                lines.append(f"failed: {row['file']}: {row['probe']}: {row['reason']}")
        lines += [f"skipped, of no known format: {file}" for file in self.skipped]
        platforms = {row["platform"] for row in self.rows}
        cases = Counter(
            (record.trial.platform, record.trial.case)
            for record in self.run.finished().values()
            if record.status == "measured" and record.trial.platform in platforms
        )
        single = sum(count == 1 for count in cases.values())
        few = sum(count < 6 for count in cases.values())
        if few:
            text = f"{single} of {len(cases)} cases have n = 1, {few} have fewer than 6 trials: "
            lines.append(f"{text}no interval and no verdict; import more outputs of the same cases")
        return lines


def import_files(
    files: Sequence[Path],
    platform: str | None,
    out: Path,
    *,
    title: str = "",
    ranks: int | None = None,
    skip_unknown: bool = False,
) -> Intake:
    """Read existing outputs into a run, made if need be, as trials of their platforms.

    Nothing is written unless every file is of a known format.

    - `files`: outputs of one or more launches, gzipped or not; or folders, with every file.
    - `platform`: name that their platform gets in the run; None for outputs that name their own.
    - `out`: run directory: a new one, or one that an earlier import made.
    - `ranks`: number of ranks of outputs that do not say it.
    - `skip_unknown`: leave out files of no known format instead of refusing all.

    Raises ImportRefused: a file cannot be read or is of no known format.
    Raises UsageError: the platform's name is impossible, missing, or one for several platforms; or
    the run holds measured results.
    Raises StoreError: the run cannot be written.
    """
    if platform is not None and not PLATFORM_NAME.fullmatch(platform):
        raise UsageError(
            f"'{shown_name(platform)}' is no name for a platform",
            where="--platform",
            hint=PLATFORM_NAME_HINT,
        )
    if ranks is not None and ranks < 1:
        raise UsageError(f"{ranks} is no number of ranks", where="--ranks")
    found, skipped = read_files(files, skip_unknown=skip_unknown)
    placed = _placed(found, platform)
    titles = {name: title or own_title for name, (own_title, _) in placed.items()}
    run, header = _open(out, titles, found)
    intake = Intake(run, skipped=skipped)
    names = ", ".join(dict.fromkeys(file.name for file in files))
    with run.writing():
        if header != run.header:
            run.replace_header(header)
        for name, (_, own) in placed.items():
            rows = _append(run, name, own, ranks)
            intake.rows += rows
            run.write_facts(name, _facts(own, run.facts().get(name, {})))
            new = sum(row["trial"] is not None for row in rows)
            run.append_event(name, f"{count(new, 'trial')} imported from {names}")
    return intake


def _placed(
    found: Iterable[FoundTrial], platform: str | None
) -> dict[str, tuple[str, list[FoundTrial]]]:
    """Sort what was found by platforms: the title that an output gives, and what is of it."""
    by_title: dict[str, list[FoundTrial]] = defaultdict(list)
    for one in found:
        by_title[one.imported.platform].append(one)
    titles = sorted(title for title in by_title if title)
    if platform is not None:
        if len(titles) > 1:
            shown = ", ".join(map(shown_name, titles[:5]))
            raise UsageError(
                f"the outputs are of {len(titles)} platforms: {shown}",
                where="--platform",
                hint="leave --platform out, or import their files one platform at a time",
            )
        everything = [one for own in by_title.values() for one in own]
        return {platform: (titles[0] if titles else "", everything)}
    if "" in by_title:
        raise UsageError(
            "does not say its platform",
            where=str(by_title[""][0].file),
            hint="name it with --platform, or leave the file out",
        )
    named = {platform_name(title): (title, own) for title, own in by_title.items()}
    if len(named) < len(titles):
        raise UsageError(
            f"platforms have names that are too much alike: {', '.join(titles[:5])}",
            hint="import their files one platform at a time with --platform",
        )
    return named


def _open(out: Path, titles: Mapping[str, str], found: Iterable[FoundTrial]) -> tuple[Run, Header]:
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
        known = platforms.get(name, {"type": "import"})
        platforms[name] = {**known, **({"title": title} if title else {})}
    header = replace(header, platforms=platforms, probes=_declared(header.probes, found))
    return run or Run.create(out, header), header


def _declared(
    known: Mapping[str, Mapping[str, Any]], found: Iterable[FoundTrial]
) -> dict[str, Mapping[str, Any]]:
    """Add what the trials declare; outputs of one program may have more or fewer columns."""
    probes = dict(known)
    for trial in found:
        new: Mapping[str, Any] = trial.imported.declaration()
        old = probes.get(trial.imported.probe, new)
        if old["metrics"].keys() == UNTOLD.keys():
            old = new
        elif new["metrics"].keys() == UNTOLD.keys():
            new = old
        probes[trial.imported.probe] = {**old, "metrics": {**new["metrics"], **old["metrics"]}}
    return probes


def _append(
    run: Run, platform: str, found: Iterable[FoundTrial], ranks: int | None
) -> list[Imported]:
    finished = run.finished()
    known = {
        (record.trial.case, launch)
        for record in finished.values()
        if record.trial.platform == platform and (launch := _launch_of(run, record))
    }
    block_of = _blocks(finished.values(), platform)
    index = max(finished, default=-1) + 1
    rows = []
    for one in found:
        case = one.imported.case(ranks)
        launch = _hash(one.launch)
        fresh = (case, launch) not in known
        rows.append(_row(one, case, platform, index if fresh else None))
        if not fresh:
            continue
        known.add((case, launch))
        trial = Trial(index=index, block=block_of(case), platform=platform, case=case, layout=None)
        argv = ("bareline", "import", str(one.file))
        run.write_raw(
            trial, Output(stdout=one.launch, stderr="", exit_code=0, duration_s=0.0, argv=argv)
        )
        began = one.importer.started(one.launch)
        run.append(
            Record(
                trial=trial,
                outcome=one.imported.outcome,
                started=began.isoformat(timespec="milliseconds") if began else now(),
                duration_s=0.0,
                caveats=_caveats(one.imported, case),
                launch=launch,
            )
        )
        index += 1
    return rows


def _launch_of(run: Run, record: Record) -> str:
    """Give the hash of a trial's launch; runs of before it was recorded have only the output."""
    output = None if record.launch else run.read_raw(record.trial)
    return _hash(output.stdout) if output else record.launch


def _hash(launch: str) -> str:
    return hashlib.sha256(launch.encode(errors="surrogatepass")).hexdigest()[:32]


def _blocks(records: Iterable[Record], platform: str) -> Callable[[Case], int]:
    """Give what numbers the repetitions of a platform's cases, apart from other platforms'."""
    trials = [record.trial for record in records]
    own = sorted({trial.block for trial in trials if trial.platform == platform})
    unused = itertools.count(max((trial.block for trial in trials), default=-1) + 1)
    taken = Counter(trial.case for trial in trials if trial.platform == platform)

    def block_of(case: Case) -> int:
        taken[case] += 1
        if taken[case] > len(own):
            own.append(next(unused))
        return own[taken[case] - 1]

    return block_of


def _caveats(imported: Reading, case: Case) -> tuple[str, ...]:
    unknown = () if case.ranks else ("the output does not say its number of ranks",)
    return ("imported", *imported.caveats, *unknown)


def _row(found: FoundTrial, case: Case, platform: str, trial: int | None) -> Imported:
    outcome = found.imported.outcome
    failed = outcome if isinstance(outcome, Failed) else None
    return row_of(
        Imported,
        case,
        file=str(found.file),
        format=found.importer.name,
        trial=trial,
        platform=platform,
        ranks=case.ranks or None,
        status="failed" if failed else "measured",
        reason=failed.reason if failed else None,
        samples=len(outcome.samples) if isinstance(outcome, Measured) else 0,
    )


def _facts(found: Iterable[FoundTrial], known: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Join what the outputs tell of the platform; where they disagree, all they say."""
    texts: dict[str, dict[str, None]] = defaultdict(dict)
    for key, value in known.items():
        texts[key] = dict.fromkeys(str(value).split("; "))
    for one in found:
        for key, fact in one.importer.facts(one.launch).items():
            texts[key][str(fact)] = None
    return {key: "; ".join(values) for key, values in texts.items()}


def read_again(case: Case, launch: str) -> tuple[Measured | Failed, tuple[str, ...]]:
    """Read an imported trial's raw output with the importers of today: outcome and caveats.

    Raises StoreError: no importer gives such a probe.
    """
    importer = load_importers().get(case.probe.partition(".")[0])
    if importer is None:
        raise StoreError(f"no importer gives the probe '{case.probe}'", hint="update bareline")
    try:
        for imported in importer.parse(launch):
            if imported.case(case.ranks) == case:
                return imported.outcome, _caveats(imported, case)
    except ParseError as error:
        return Failed(Stage.PARSE, str(error)), ("imported",)
    return Failed(Stage.PARSE, f"the output has no {case.label} any more"), ("imported",)
