"""Profiles as files: JSON lines, whole or refused with one line that says why."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import TypedDict

from bareline.profile.journal import is_journal, journal_of, read_journal
from bareline.profile.model import (
    ADDED,
    CALL_COLUMNS,
    LARGEST_BYTES,
    MOST_CELLS,
    MOST_RANKS,
    OLDEST,
    RANK_COLUMNS,
    SCHEMA,
    SEND_COLUMNS,
    SITE_COLUMNS,
    VERSION,
    Mode,
    Profile,
    why_implausible,
)
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.files import read_bounded, replacing, stands, step_to_read
from bareline.vocabulary.invalid import problem_of
from bareline.vocabulary.model import Command, Output
from bareline.vocabulary.rows import open_row

_AGAIN = "profile the program again"
#: Half of a pair that stands for one character; alone it is none, and nothing can print it.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class _Header(BaseModel):
    """The first line, after its schema and version were found to be ours."""

    model_config = ConfigDict(extra="ignore", strict=True)

    complete: bool
    ended: str = ""
    mode: Mode
    ranks: Annotated[int, Field(ge=1, le=MOST_RANKS)]
    nodes: Annotated[int, Field(ge=1, le=MOST_RANKS)]
    began_unix_ns: Annotated[int, Field(ge=0, lt=1 << 63)]
    mpi: str
    thread_level: Literal["single", "funneled", "serialized", "multiple"]
    command: str
    ranks_per_cell: Annotated[int, Field(ge=1, le=MOST_RANKS)]
    regions: dict[Annotated[str, Field(pattern=r"^[0-9]{1,9}$")], str]


def read_profile(path: Path) -> Profile:
    """Read a profile, or what a program that crashed has left of one.

    Raises ProfileError: it is missing, empty, damaged, cut off, or of another schema.
    """
    journal = journal_of(path)
    try:
        if is_journal(path):
            return read_journal(path)
        if not stands(path) and stands(journal):
            return read_journal(journal)
        text = read_bounded(path, LARGEST_BYTES)
    except IsADirectoryError as error:
        raise ProfileError("is a folder, not a profile", where=str(path)) from error
    except OSError as error:
        raise ProfileError(
            f"cannot be read: {error.strerror}",
            where=str(path),
            hint=step_to_read(error, "make one with `bareline profile -o FILE -- mpirun ...`"),
        ) from error
    return parse_profile(text, path)


def parse_profile(text: bytes | str, path: Path) -> Profile:
    """Read the text of a profile that stands, or stood, at a path.

    Raises ProfileError: it is empty, damaged, cut off, or of another schema.
    """
    if not text.strip():
        raise ProfileError("the profile is empty", where=str(path), hint=_AGAIN)
    content = text.encode() if isinstance(text, str) else text
    return _assemble(path, content.split(b"\n"))


def is_profile(path: Path) -> bool:
    """Whether a path names a profile, or the journal that a killed program left of one."""
    return path.is_file() or (not path.exists() and journal_of(path).is_file())


def write_profile(profile: Profile, path: Path) -> None:
    """Write a profile: beside its place, then moved there in one step.

    Raises ProfileError: it cannot be written.
    """
    lines = [json.dumps(line, ensure_ascii=False, allow_nan=False) for line in _lines(profile)]
    lines.append(json.dumps({"type": "end", "lines": len(lines)}))
    try:
        with replacing(path) as made:
            made.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise ProfileError(
            f"cannot be written: {error.strerror}",
            where=str(path),
            hint="make room or choose another -o",
        ) from error


@open_row
class ProfileRow(TypedDict):
    """``show`` of a profile: the reference has the columns of each type."""

    type: Literal["profile", "rank", "call", "site", "sends"]


def to_rows(profile: Profile) -> list[dict[str, Any]]:
    """Give everything as tidy rows in SI units, told apart by ``type``."""
    return [_in_seconds(line) for line in _lines(profile)]


def _lines(profile: Profile) -> Iterator[dict[str, Any]]:
    yield profile.header()
    for row in profile.rank_table.iter_rows(named=True):
        yield {"type": "rank", **row}
    for row in profile.call_table.iter_rows(named=True):
        yield {"type": "call", **row}
    for row in profile.site_table.iter_rows(named=True):
        yield {"type": "site", **row}
    grouped = profile.send_table.sort("from", "to").group_by("from", maintain_order=True)
    for row in grouped.agg("to", "count", "bytes").iter_rows(named=True):
        yield {"type": "sends", **row}


def _in_seconds(row: Mapping[str, Any]) -> dict[str, Any]:
    converted: dict[str, Any] = {}
    for name, value in row.items():
        if name.endswith("_ns"):
            # Steal and queueing are -1 where the system does not tell.
            converted[f"{name[:-3]}_s"] = None if value < 0 else value * 1e-9
        elif name.endswith("_ns2"):
            converted[f"{name[:-4]}_s2"] = value * 1e-18
        else:
            converted[name] = value
    return converted


# Reading ------------------------------------------------------------------------------------------


def _assemble(path: Path, raw: Sequence[bytes]) -> Profile:
    lines = list(_parse(path, raw))
    header = _header(path, lines[0])
    end = lines[-1]
    if end.get("type") != "end":
        raise ProfileError("the profile is cut off", where=str(path), hint=_AGAIN)
    if end.get("lines") != len(lines) - 1:
        raise ProfileError(
            f"the profile has {len(lines) - 1} of its {end.get('lines')} lines",
            where=str(path),
            hint=_AGAIN,
        )
    names = ("rank", "call", "site", "sends")
    kinds: dict[str, list[Mapping[str, Any]]] = {name: [] for name in names}
    for number, line in enumerate(lines[1:-1], start=2):
        kind = line.get("type")
        if kind not in kinds:
            raise _damaged(path, number, f"a line of unknown type {kind!r}")
        kinds[kind].append(
            line if lines[0]["version"] == VERSION else {**dict.fromkeys(ADDED, -1), **line}
        )
    ranks = _frame(path, kinds["rank"], RANK_COLUMNS, "rank")
    numbers = ranks["rank"].sort()
    if numbers.is_duplicated().any() or not numbers.is_between(0, header.ranks - 1).all():
        raise _implausible(path, "it has a rank twice, or one that does not exist")
    if numbers.len() < header.ranks and header.complete:
        raise ProfileError(
            f"the profile lacks some of its {header.ranks} ranks", where=str(path), hint=_AGAIN
        )
    return Profile(
        path=path,
        complete=header.complete,
        ended=header.ended,
        mode=header.mode,
        ranks=header.ranks,
        nodes=header.nodes,
        began_unix_ns=header.began_unix_ns,
        mpi=header.mpi,
        thread_level=header.thread_level,
        command=header.command,
        ranks_per_cell=header.ranks_per_cell,
        regions={int(number): name for number, name in header.regions.items()},
        rank_table=ranks,
        call_table=_frame(path, kinds["call"], CALL_COLUMNS, "call"),
        site_table=_frame(path, kinds["site"], SITE_COLUMNS, "site"),
        send_table=_sends(path, kinds["sends"], -(-header.ranks // header.ranks_per_cell)),
    )


def _damaged(path: Path, number: int, what: str) -> ProfileError:
    return ProfileError(
        f"the profile is damaged: {what}", where=f"{path}, line {number}", hint=_AGAIN
    )


def _parse(path: Path, raw: Sequence[bytes]) -> Iterator[dict[str, Any]]:
    last = len(raw) - 1
    for number, text in enumerate(raw, start=1):
        if not text and number - 1 == last:
            return
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            if number == 1:
                raise ProfileError(
                    "is not a bareline profile", where=str(path), hint=_AGAIN
                ) from error
            if number - 1 == last:
                raise ProfileError(
                    "the profile is cut off", where=str(path), hint=_AGAIN
                ) from error
            raise _damaged(path, number, "a line is not JSON") from error
        if not isinstance(line, dict):
            raise _damaged(path, number, "a line is not an object")
        if _HALF.search(text) and not _is_text(line):
            raise _damaged(path, number, "half a character")
        yield line


def _is_text(line: object) -> bool:
    try:
        json.dumps(line, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _header(path: Path, line: Mapping[str, Any]) -> _Header:
    if line.get("schema") != SCHEMA or line.get("type") != "profile":
        schema = line.get("schema")
        what = "is not a bareline profile"
        raise ProfileError(
            f"{what} but '{schema}'" if isinstance(schema, str) else what,
            where=str(path),
            hint="give a file that `bareline profile -o` wrote",
        )
    if line.get("version") not in range(OLDEST, VERSION + 1):
        raise ProfileError(
            f"the profile is of version {line.get('version')!r}, this bareline reads "
            f"{OLDEST} to {VERSION}",
            where=str(path),
            hint="profile again, or use the bareline that wrote it",
        )
    try:
        header = _Header.model_validate(dict(line))
        if header.ranks > MOST_CELLS * header.ranks_per_cell:
            raise _damaged(path, 1, "its matrix has more cells than any")
    except ValidationError as error:
        problem = problem_of(error)
        raise _damaged(path, 1, f"'{problem.key}': {problem.said}") from error
    return header


def _frame(
    path: Path,
    lines: Sequence[Mapping[str, Any]],
    columns: Mapping[str, type[pl.DataType]],
    kind: str,
) -> pl.DataFrame:
    wanted = set(columns)
    for line in lines:
        missing = wanted - line.keys()
        if missing:
            raise ProfileError(
                f"the profile is damaged: a '{kind}' line lacks '{min(missing)}'",
                where=str(path),
                hint=_AGAIN,
            )
    data = {name: [line[name] for line in lines] for name in columns}
    for name, kind_of in columns.items():
        if kind_of is pl.Float64:
            data[name] = [_finite(value) for value in data[name]]
    try:
        frame = pl.DataFrame(data, schema=dict(columns), strict=True)
    except (TypeError, pl.exceptions.PolarsError, OverflowError) as error:
        raise ProfileError(
            f"the profile is damaged: a '{kind}' line has a value of the wrong type",
            where=str(path),
            hint=_AGAIN,
        ) from error
    if sum(frame.null_count().row(0)):
        raise _implausible(path, f"a '{kind}' line lacks a value")
    wrong = why_implausible(frame)
    if wrong:
        raise _implausible(path, f"in a '{kind}' line {wrong}")
    return frame


def _implausible(path: Path, what: str) -> ProfileError:
    return ProfileError(f"the profile is damaged: {what}", where=str(path), hint=_AGAIN)


def _finite(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    return value if not isinstance(value, float) or math.isfinite(value) else None


def _sends(path: Path, lines: Sequence[Mapping[str, Any]], cells: int) -> pl.DataFrame:
    rows: dict[str, list[Any]] = {name: [] for name in SEND_COLUMNS}
    for line in lines:
        lists = [line.get(name) for name in ("to", "count", "bytes")]
        if (
            not all(isinstance(values, list) for values in lists)
            or len({len(values) for values in lists if isinstance(values, list)}) != 1
        ):
            raise ProfileError(
                "the profile is damaged: a 'sends' line has lists of different lengths",
                where=str(path),
                hint=_AGAIN,
            )
        to, count, sent = (values or [] for values in lists)
        rows["from"] += [line.get("from")] * len(to)
        rows["to"] += to
        rows["count"] += count
        rows["bytes"] += sent
    frame = _frame(path, _as_lines(rows), SEND_COLUMNS, "sends")
    outside = frame.filter(
        ~pl.col("from").is_between(0, cells - 1) | ~pl.col("to").is_between(0, cells - 1)
    )
    if outside.height:
        raise ProfileError(
            "the profile is damaged: a 'sends' line names a rank that does not exist",
            where=str(path),
            hint=_AGAIN,
        )
    return frame


def _as_lines(columns: Mapping[str, Sequence[Any]]) -> list[Mapping[str, Any]]:
    names = list(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True)]


#: Name of a trial's profile among the files that its program writes.
PROFILE_FILE = "app.profile"
TRACE_FILE = "app.trace"
#: Where the native programs are installed on every platform, the profiler is beside them.
_LIBRARY = "{native}/../lib/libbareline_pmpi.so"


def under_profiler(command: Command, trace_bytes: int) -> Command:
    """Give the command that runs the same program with the profiler in every rank.

    - `trace_bytes`: a program whose trace takes more is profiled without a whole one.
    """
    variables = (
        ("LD_PRELOAD", _LIBRARY),
        ("BARELINE_PROFILE", f"{{workdir}}/{PROFILE_FILE}"),
        ("BARELINE_TRACE", f"{{workdir}}/{TRACE_FILE}"),
        ("BARELINE_TRACE_LIMIT", str(trace_bytes)),
    )
    files = (PROFILE_FILE, TRACE_FILE)
    return replace(command, env=command.env + variables, outputs=(*command.outputs, *files))


def why_unprofiled(output: Output) -> str:
    """Say why a successful launch has no whole profile; nothing if it has one.

    Its times are then not what was asked for either: perhaps nothing was profiled at all.
    """
    text = output.files.get(PROFILE_FILE, "")
    if not text:
        return "the profiler wrote nothing"
    try:
        profile = parse_profile(text, Path(PROFILE_FILE))
    except ProfileError as error:
        return str(error)
    return "" if profile.complete else f"the profile is unfinished: {profile.ended}"
