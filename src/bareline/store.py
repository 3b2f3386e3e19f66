"""Run directories: append-only, self-contained, readable after a kill at any moment.

::

    run.toml                 study, platforms, seed, versions, configuration hash
    facts/<platform>.json    what each platform is
    records.jsonl            one line per finished trial
    events.jsonl             what happened to platforms: nodes replaced, rebuilt
    raw/<trial>/             command.json stdout stderr, and files that the program wrote

A record is one ``write`` and one ``fsync``. A last line without its newline was torn by a kill;
it is dropped, and its trial counts as not run.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bareline.errors import StoreError
from bareline.model import (
    Case,
    Failed,
    Layout,
    Measured,
    Output,
    Placement,
    Record,
    Sample,
    Scalar,
    Stage,
    Trial,
    format_point,
    parse_point,
    trial_name,
)

if TYPE_CHECKING:
    import polars as pl

#: Version of the run directory's layout; a reader refuses what is newer.
SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What ``run.toml`` says: everything that makes the plan again.

    `study` and `platforms` are kept as they stand in their files, so that this module needs to
    know neither. `probes` holds each probe's layer, headline and metrics, so that a run can be
    analysed where its probes are not installed.
    """

    study: Mapping[str, Any]
    probes: Mapping[str, Mapping[str, Any]]
    platforms: Mapping[str, Mapping[str, Any]]
    baseline: str
    seed: int
    created: str
    versions: Mapping[str, str]
    schema: int = SCHEMA

    @property
    def imported(self) -> bool:
        """Tell whether the results were imported, not measured."""
        return any(table.get("type") == "import" for table in self.platforms.values())

    @property
    def config_hash(self) -> str:
        """Hash of all that determines the plan."""
        text = json.dumps([self.study, self.platforms, self.baseline, self.seed], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


class Run:
    """A run directory.

    Open an existing one with `Run.open`, make one with `Run.create`; write to it inside
    `Run.writing` only.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.header = header
        self._descriptor: int | None = None

    # Making and opening ----------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, header: Header) -> Run:
        """Make a run directory.

        Raises
        ------
        StoreError
            The directory exists with something in it, or cannot be written.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            if any(path.iterdir()):
                raise StoreError(
                    "the folder is not empty",
                    where=str(path),
                    hint=f"choose another --out, or `bareline continue {path}`",
                )
            (path / "facts").mkdir()
            (path / "raw").mkdir()
            (path / "records.jsonl").touch()
            _write_header(path, header)
        except OSError as error:
            raise StoreError(
                f"cannot be written: {error.strerror}",
                where=str(path),
                hint="choose another folder with --out",
            ) from error
        return cls(path, header)

    @classmethod
    def open(cls, path: Path) -> Run:
        """Open an existing run directory.

        Raises
        ------
        StoreError
            It is no run directory, or made by a newer bareline.
        """
        file = path / "run.toml"
        try:
            content = tomllib.loads(file.read_text(encoding="utf-8"))
            if content["schema"] > SCHEMA:
                raise StoreError(
                    f"written by a newer bareline (schema {content['schema']})",
                    where=str(path),
                    hint="update bareline",
                )
            header = Header(
                study=content["study"],
                probes=content["probe"],
                platforms=content["platform"],
                baseline=content["baseline"],
                seed=content["seed"],
                created=content["created"],
                versions=content["versions"],
                schema=content["schema"],
            )
        except OSError as error:
            raise StoreError(
                f"not a run directory: {error.strerror} ({file.name})",
                where=str(path),
                hint="give the folder that `bareline run` printed last",
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, KeyError, TypeError) as error:
            raise StoreError(f"run.toml is damaged: {error}", where=str(path)) from error
        return cls(path, header)

    @property
    def id(self) -> str:
        """Short identity that marks this run's processes."""
        return hashlib.sha256(
            f"{self.header.config_hash}{self.header.created}{self.path.name}".encode()
        ).hexdigest()[:12]

    # Writing ---------------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the run for writing; repairs a torn last line first.

        Raises
        ------
        StoreError
            Another process is writing to the run.
        """
        file = self.path / "records.jsonl"
        try:
            descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise StoreError(f"cannot be written: {error.strerror}", where=str(file)) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise StoreError(
                    "another bareline is writing to this run",
                    where=str(self.path),
                    hint="wait for it, or end it",
                ) from error
            _cut_torn_line(descriptor)
            self._descriptor = descriptor
            yield
        finally:
            self._descriptor = None
            os.close(descriptor)

    def is_being_written(self) -> bool:
        """Tell whether a bareline is writing to the run now."""
        with self._records_file().open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except OSError:
                return True
        return False

    def append(self, record: Record) -> None:
        """Append one record: one write, one fsync.

        Raises
        ------
        StoreError
            The disk is full or fails; what was there before stays whole.
        """
        assert self._descriptor is not None, "append outside of writing()"
        line = (json.dumps(_to_line(record), ensure_ascii=False, allow_nan=False) + "\n").encode()
        size = os.fstat(self._descriptor).st_size
        try:
            written = os.write(self._descriptor, line)
            if written < len(line):
                raise OSError(28, "No space left on device")
            os.fsync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise self._unwritable(error) from error

    def write_raw(self, trial: Trial, output: Output, attempt: int = 1) -> None:
        """Keep what a trial printed, re-parsable.

        Raises
        ------
        StoreError
            The disk is full or fails.
        """
        folder = self.raw_folder(trial, attempt)
        command = {
            "argv": list(output.argv),
            "exit_code": output.exit_code,
            "timed_out": output.timed_out,
            "duration_s": output.duration_s,
            "clock": output.clock,
            "files": sorted(output.files),
        }
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "stdout").write_text(output.stdout, encoding="utf-8")
            (folder / "stderr").write_text(output.stderr, encoding="utf-8")
            for name, text in output.files.items():
                self.raw_file(trial.index, name, attempt).write_text(text, encoding="utf-8")
            (folder / "command.json").write_text(json.dumps(command, indent=1) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def read_raw(self, trial: Trial, attempt: int = 1) -> Output | None:
        """Read what `write_raw` kept; None where the trial never came to print anything."""
        folder = self.raw_folder(trial, attempt)
        try:
            command = json.loads((folder / "command.json").read_text(encoding="utf-8"))
            return Output(
                stdout=(folder / "stdout").read_text(encoding="utf-8"),
                stderr=(folder / "stderr").read_text(encoding="utf-8"),
                exit_code=command["exit_code"],
                duration_s=command["duration_s"],
                timed_out=command["timed_out"],
                clock=command["clock"],
                argv=tuple(command["argv"]),
                files={
                    name: self.raw_file(trial.index, name, attempt).read_text(encoding="utf-8")
                    for name in command["files"]
                },
            )
        except (OSError, ValueError, KeyError):
            return None

    def raw_folder(self, trial: Trial, attempt: int = 1) -> Path:
        """Give the folder of a trial's raw output."""
        return self._raw_folder(trial.index, attempt)

    def raw_file(self, index: int, name: str, attempt: int = 1) -> Path:
        """Give where a file is kept that the program of the trial with this index wrote."""
        return self._raw_folder(index, attempt) / f"file.{name}"

    def _raw_folder(self, index: int, attempt: int) -> Path:
        name = trial_name(index)
        return self.path / "raw" / (name if attempt == 1 else f"{name}.{attempt}")

    def write_facts(self, platform: str, facts: Mapping[str, Scalar]) -> None:
        """Keep what a platform is."""
        text = json.dumps(dict(facts), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        try:
            _write_atomically(self.path / "facts" / f"{platform}.json", text)
        except OSError as error:
            raise self._unwritable(error) from error

    def append_event(self, platform: str, text: str) -> None:
        """Note what happened to a platform, e.g. that a node was replaced."""
        event = {"time": now(), "platform": platform, "event": text}
        try:
            with (self.path / "events.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(event, ensure_ascii=False) + "\n")
        except OSError as error:
            raise self._unwritable(error) from error

    def replace_records(self, records: Sequence[Record]) -> None:
        """Write all records anew, after re-parsing; the old file stays until the new is whole."""
        lines = [
            json.dumps(_to_line(record), ensure_ascii=False, allow_nan=False) + "\n"
            for record in records
        ]
        try:
            _write_atomically(self.path / "records.jsonl", "".join(lines))
        except OSError as error:
            raise self._unwritable(error) from error

    def replace_header(self, header: Header) -> None:
        """Write ``run.toml`` anew, after an import added a platform or a probe."""
        try:
            _write_header(self.path, header)
        except OSError as error:
            raise self._unwritable(error) from error
        self.header = header

    def _unwritable(self, error: OSError) -> StoreError:
        return StoreError(
            f"cannot be written: {error.strerror}",
            where=str(self.path),
            hint=f"make room, then `bareline continue {self.path}`; nothing recorded is lost",
        )

    # Reading ---------------------------------------------------------------------------------

    def facts(self) -> dict[str, dict[str, Scalar]]:
        """Read the facts of every platform that came up."""
        found = {}
        for file in sorted((self.path / "facts").glob("*.json")):
            try:
                found[file.stem] = json.loads(file.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise StoreError(f"damaged: {error}", where=str(file)) from error
        return found

    def events(self) -> list[dict[str, str]]:
        """Read what happened to platforms."""
        try:
            text = (self.path / "events.jsonl").read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def records(self) -> Iterator[Record]:
        """Read the records one by one, in the order they were written.

        Raises
        ------
        StoreError
            A line other than a torn last one is damaged.
        """
        with self._records_file().open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith("\n"):
                    return
                try:
                    yield _from_line(json.loads(line))
                except (ValueError, KeyError, TypeError) as error:
                    raise StoreError(
                        f"line {number} is damaged: {error}", where=str(file.name)
                    ) from error

    def finished(self) -> dict[int, Record]:
        """Give the latest record of every finished trial, by index."""
        return {record.trial.index: record for record in self.records()}

    def frame(self) -> pl.DataFrame:
        """Read all records into one frame, samples nested: fast for millions of samples.

        Columns as in a line of ``records.jsonl``; only the latest attempt of each trial.
        """
        import polars as pl

        file = self._records_file()
        data = file.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        schema = _frame_schema()
        if not whole:
            return pl.DataFrame(schema=schema)
        try:
            frame = pl.read_ndjson(whole, schema=schema)
        except pl.exceptions.PolarsError as error:
            raise StoreError(f"damaged: {error}", where=str(file)) from error
        return frame.unique("trial", keep="last", maintain_order=True)

    def _records_file(self) -> Path:
        file = self.path / "records.jsonl"
        if not file.exists():
            raise StoreError("records.jsonl is missing", where=str(self.path))
        return file


def now() -> str:
    """Give the present time as it stands in run directories (ISO 8601, UTC)."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _cut_torn_line(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    end = size
    while end > 0:
        start = max(0, end - 65536)
        newline = os.pread(descriptor, end - start, start).rfind(b"\n")
        if newline >= 0:
            end = start + newline + 1
            break
        end = start
    if end < size:
        os.ftruncate(descriptor, end)


def _write_header(path: Path, header: Header) -> None:
    import tomli_w

    content = {
        "schema": header.schema,
        "created": header.created,
        "seed": header.seed,
        "baseline": header.baseline,
        "config_hash": header.config_hash,
        "versions": dict(header.versions),
        "probe": dict(header.probes),
        "study": dict(header.study),
        "platform": {name: dict(spec) for name, spec in header.platforms.items()},
    }
    _write_atomically(path / "run.toml", tomli_w.dumps(content))


def _write_atomically(path: Path, text: str) -> None:
    temporary = path.with_name(path.name + ".part")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _to_line(record: Record) -> dict[str, Any]:
    trial, case, outcome = record.trial, record.trial.case, record.outcome
    failure = outcome if isinstance(outcome, Failed) else None
    samples = () if isinstance(outcome, Failed) else outcome.samples
    return {
        "trial": trial.index,
        "attempt": record.attempt,
        "block": trial.block,
        "platform": trial.platform,
        "probe": case.probe,
        "params": case.params,
        "ranks": case.ranks,
        "threads": case.threads,
        "nodes": case.nodes,
        "placement": case.placement.value,
        "profile": case.profile,
        "layout": str(trial.layout) if trial.layout else None,
        "timeout_s": trial.timeout_s,
        "started": record.started,
        "duration_s": record.duration_s,
        "clock": record.clock,
        "status": record.status,
        "stage": failure.stage.value if failure else None,
        "reason": failure.reason if failure else None,
        "caveats": list(record.caveats),
        "samples": [
            {
                "metric": sample.metric,
                "point": format_point(sample.point),
                "value": float(sample.value),
                **({"caveats": list(sample.caveats)} if sample.caveats else {}),
            }
            for sample in samples
        ],
    }


def _from_line(line: Mapping[str, Any]) -> Record:
    case = Case(
        probe=line["probe"],
        params=line["params"],
        ranks=line["ranks"],
        threads=line["threads"],
        nodes=line["nodes"],
        placement=Placement(line["placement"]),
        profile=line.get("profile", False),  # runs of before there were profiles
    )
    trial = Trial(
        index=line["trial"],
        block=line["block"],
        platform=line["platform"],
        case=case,
        layout=Layout.parse(line["layout"]) if line["layout"] else None,
        misfit=line["reason"] if line["stage"] == Stage.LAYOUT else None,
        timeout_s=line["timeout_s"],
    )
    outcome: Measured | Failed
    if line["status"] == "measured":
        outcome = Measured(
            tuple(
                Sample(
                    sample["metric"],
                    sample["value"],
                    parse_point(sample["point"]),
                    tuple(sample.get("caveats", ())),
                )
                for sample in line["samples"]
            )
        )
    else:
        outcome = Failed(Stage(line["stage"]), line["reason"])
    return Record(
        trial=trial,
        outcome=outcome,
        started=line["started"],
        duration_s=line["duration_s"],
        caveats=tuple(line["caveats"]),
        clock=line["clock"],
        attempt=line["attempt"],
    )


def _frame_schema() -> dict[str, Any]:
    import polars as pl

    sample = pl.Struct(
        {
            "metric": pl.String,
            "point": pl.String,
            "value": pl.Float64,
            "caveats": pl.List(pl.String),
        }
    )
    return {
        "trial": pl.Int64,
        "attempt": pl.Int64,
        "block": pl.Int64,
        "platform": pl.String,
        "probe": pl.String,
        "params": pl.String,
        "ranks": pl.Int64,
        "threads": pl.Int64,
        "nodes": pl.Int64,
        "placement": pl.String,
        "profile": pl.Boolean,
        "layout": pl.String,
        "started": pl.String,
        "duration_s": pl.Float64,
        "clock": pl.String,
        "status": pl.String,
        "stage": pl.String,
        "reason": pl.String,
        "caveats": pl.List(pl.String),
        "samples": pl.List(sample),
    }


def with_outcome(record: Record, outcome: Measured | Failed, caveats: tuple[str, ...]) -> Record:
    """Give the record with another outcome, after its raw output was parsed again."""
    return replace(record, outcome=outcome, caveats=caveats)
