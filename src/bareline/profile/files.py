"""Profiles as files of JSON lines; a file is read completely or refused with one reason."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

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
from bareline.vocabulary.files import (
    open_regular,
    read_bounded,
    replace_file,
    stands,
    step_to_read,
    step_to_write,
)
from bareline.vocabulary.rows import open_row
from bareline.vocabulary.validation_errors import problem_of

#: A line of a profile: an object with a value by each key.
Line: TypeAlias = dict[str, Any]

_AGAIN = "profile the program again"
#: Lists of a 'sends' line, with an element for each receiver.
_SENT = ("to", "count", "bytes")
#: Half of a surrogate pair; alone it is not a character and cannot be printed.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class _Header(BaseModel):
    """The first line of a profile, apart from its schema and version."""

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


#: The schema of a profile is within this number of bytes.
_HEAD_BYTES = 512


def read_profile(path: Path) -> Profile:
    """Return the profile in a file, or the partial profile of a program that crashed.

    Raises ProfileError: the file is missing, empty, damaged, cut off, or of another schema.
    """
    journal = journal_of(path)
    try:
        if is_journal(path):
            return read_journal(path)
        if not stands(path) and stands(journal):
            return read_journal(journal)
        text = read_bounded(path, LARGEST_BYTES)
    except IsADirectoryError as error:
        raise ProfileError("the path is a folder, not a profile", where=str(path)) from error
    except OSError as error:
        raise ProfileError(
            f"the profile cannot be read: {error.strerror}",
            where=str(path),
            hint=step_to_read(error, "make one with `bareline profile -o FILE -- mpirun ...`"),
        ) from error
    return parse_profile(text, path)


def parse_profile(text: bytes | str, path: Path) -> Profile:
    """Return the profile in a text, which was read from `path`.

    Raises ProfileError: as for `read_profile`.
    """
    if not text.strip():
        raise ProfileError("the profile is empty", where=str(path), hint=_AGAIN)
    content = text.encode() if isinstance(text, str) else text
    lines = list(_parse(path, content.split(b"\n")))
    header = _header(path, lines[0])
    end = lines[-1]
    if end.get("type") != "end":
        raise ProfileError("the profile is cut off", where=str(path), hint=_AGAIN)
    if end.get("lines") != len(lines) - 1:
        reason = f"the profile has only {len(lines) - 1} of its {end.get('lines')} lines"
        raise ProfileError(reason, where=str(path), hint=_AGAIN)
    kinds = _lines_by_kind(path, lines)
    regions = {int(number): name for number, name in header.regions.items()}
    return Profile(
        path=path,
        **{**header.model_dump(), "regions": regions},
        rank_table=_ranks(path, kinds["rank"], header),
        call_table=_frame(path, kinds["call"], CALL_COLUMNS, "call"),
        site_table=_frame(path, kinds["site"], SITE_COLUMNS, "site"),
        send_table=_sends(path, kinds["sends"], -(-header.ranks // header.ranks_per_cell)),
    )


def _lines_by_kind(path: Path, lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Return the lines between the first and the last, by their type."""
    kinds: dict[str, list[Line]] = {"rank": [], "call": [], "site": [], "sends": []}
    added = {} if lines[0]["version"] == VERSION else dict.fromkeys(ADDED, -1)
    for number, line in enumerate(lines[1:-1], start=2):
        kind = line.get("type")
        if not isinstance(kind, str) or kind not in kinds:
            raise _damaged(path, f"one of its lines has the unknown type {kind!r}", number)
        kinds[kind].append(added | line)
    return kinds


def _ranks(path: Path, lines: Sequence[Line], header: _Header) -> pl.DataFrame:
    """Return the table of ranks.

    Raises ProfileError: the ranks differ from the ranks in the header.
    """
    ranks = _frame(path, lines, RANK_COLUMNS, "rank")
    numbers = ranks["rank"]
    if numbers.is_duplicated().any() or not numbers.is_between(0, header.ranks - 1).all():
        raise _damaged(path, "one of its ranks appears twice, or does not exist in the job")
    if numbers.len() < header.ranks and header.complete:
        reason = f"the profile lacks some of its {header.ranks} ranks"
        raise ProfileError(reason, where=str(path), hint=_AGAIN)
    return ranks


def is_profile(path: Path) -> bool:
    """Whether a path names a profile, or the journal of a profile whose program was killed."""
    return path.is_file() or (not path.exists() and journal_of(path).is_file())


def begins_like_profile(path: Path) -> bool:
    """Whether a file begins like a profile or a partial one, unlike outputs of other programs."""
    if not is_profile(path):
        return False
    if not path.exists() or is_journal(path):
        return True
    try:
        with open_regular(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    return not head.strip() or SCHEMA.encode() in head.partition(b"\n")[0]


def write_profile(profile: Profile, path: Path) -> None:
    """Write a profile to a temporary file and move it to `path`.

    Raises ProfileError: the file cannot be written.
    """
    lines = [json.dumps(line, ensure_ascii=False, allow_nan=False) for line in _lines(profile)]
    lines.append(json.dumps({"type": "end", "lines": len(lines)}))
    try:
        replace_file(path, "\n".join(lines) + "\n")
    except OSError as error:
        raise ProfileError(
            f"cannot be written: {error.strerror}",
            where=str(path),
            hint=step_to_write(error, "-o"),
        ) from error


@open_row
class ProfileRow(TypedDict):
    """A row of ``show`` of a profile; the reference describes the columns of each type."""

    type: Literal["profile", "rank", "call", "site", "sends"]


def to_rows(profile: Profile) -> list[Line]:
    """Return the whole profile as tidy rows in SI units, distinguished by ``type``."""
    return [_in_seconds(line) for line in _lines(profile)]


def _lines(profile: Profile) -> Iterator[Line]:
    yield profile.header()
    sends = profile.send_table.sort("from", "to").group_by("from", maintain_order=True)
    tables = {
        "rank": profile.rank_table,
        "call": profile.call_table,
        "site": profile.site_table,
        "sends": sends.agg("to", "count", "bytes"),
    }
    for kind, table in tables.items():
        for row in table.iter_rows(named=True):
            yield {"type": kind, **row}


def _in_seconds(row: Line) -> Line:
    converted: Line = {}
    for name, value in row.items():
        if name.endswith("_ns"):
            # Steal and queueing are -1 where the system does not report them.
            seconds = None if value < 0 else value * 1e-9
            converted[f"{name.removesuffix('_ns')}_s"] = seconds
        elif name.endswith("_ns2"):
            converted[f"{name.removesuffix('_ns2')}_s2"] = value * 1e-18
        else:
            converted[name] = value
    return converted


# Reading ------------------------------------------------------------------------------------------


def _damaged(path: Path, reason: str, number: int | None = None) -> ProfileError:
    where = str(path) if number is None else f"{path}, line {number}"
    return ProfileError(f"the profile is damaged: {reason}", where=where, hint=_AGAIN)


def _parse(path: Path, texts: Sequence[bytes]) -> Iterator[Line]:
    last = len(texts)
    for number, text in enumerate(texts, start=1):
        if not text and number == last:
            return
        try:
            line = json.loads(text)
        except (ValueError, RecursionError) as error:
            if 1 < number < last:
                raise _damaged(path, "one of its lines is not JSON", number) from error
            raise _unfit_end(path, number) from error
        if not isinstance(line, dict):
            raise _damaged(path, "one of its lines is not a JSON object", number)
        if _HALF.search(text) and _has_half(line):
            raise _damaged(path, "the file contains an incomplete character", number)
        yield line


def _unfit_end(path: Path, number: int) -> ProfileError:
    """Return the error for a first or last line of a profile that is not JSON."""
    reason = "the file is not a bareline profile" if number == 1 else "the profile is cut off"
    return ProfileError(reason, where=str(path), hint=_AGAIN)


def _has_half(line: Line) -> bool:
    """Whether a text in a line contains half of a surrogate pair, which cannot be printed."""
    try:
        json.dumps(line, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False


def _header(path: Path, line: Line) -> _Header:
    schema = line.get("schema")
    version = line.get("version")
    if schema != SCHEMA or line.get("type") != "profile":
        reason = "the file is not a bareline profile"
        if isinstance(schema, str):
            reason = f"the file is not a bareline profile, but has the schema '{schema}'"
        raise ProfileError(
            reason,
            where=str(path),
            hint="give a file that `bareline profile -o` wrote",
        )
    if version not in range(OLDEST, VERSION + 1):
        raise ProfileError(
            f"the profile is of version {version!r}, but this bareline reads {OLDEST} to {VERSION}",
            where=str(path),
            hint="profile again, or use the bareline that wrote it",
        )
    try:
        header = _Header.model_validate(dict(line))
    except ValidationError as error:
        problem = problem_of(error)
        raise _damaged(path, f"'{problem.key}': {problem.clause}", 1) from error
    if header.ranks > MOST_CELLS * header.ranks_per_cell:
        raise _damaged(path, "its matrix has more cells than a profile can have", 1)
    return header


def _frame(
    path: Path,
    lines: Sequence[Line],
    columns: Mapping[str, type[pl.DataType]],
    kind: str,
) -> pl.DataFrame:
    """Return the lines of one kind as a table.

    Raises ProfileError: a line lacks a column or a value.
    """
    for line in lines:
        missing = columns.keys() - line.keys()
        if missing:
            raise _damaged(path, f"a '{kind}' line lacks '{min(missing)}'")
    values: dict[str, list[object]] = {}
    for name, dtype in columns.items():
        values[name] = [line[name] for line in lines]
        if dtype is pl.Float64:
            values[name] = list(map(_finite, values[name]))
    try:
        frame = pl.DataFrame(values, schema=dict(columns), strict=True)
    except (TypeError, pl.exceptions.PolarsError, OverflowError) as error:
        raise _damaged(path, f"a '{kind}' line has a value of the wrong type") from error
    if any(frame.null_count().row(0)):
        raise _damaged(path, f"a '{kind}' line lacks a value")
    wrong = why_implausible(frame)
    if wrong:
        raise _damaged(path, f"a '{kind}' line has an impossible value: {wrong}")
    return frame


def _finite(value: object) -> object:
    """Return a number as a finite real number, or None if it is not finite."""
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _sends(path: Path, lines: Sequence[Line], cells: int) -> pl.DataFrame:
    """Return the communication matrix as a table with a row for each pair of cells."""
    rows: list[Line] = []
    for line in lines:
        lists = [line[name] for name in _SENT if isinstance(line.get(name), list)]
        lengths = set(map(len, lists))
        if len(lists) < len(_SENT) or len(lengths) > 1:
            raise _damaged(path, "a 'sends' line has lists of different lengths")
        sender = line.get("from")
        for to, count, sent in zip(*lists, strict=True):
            rows.append({"from": sender, "to": to, "count": count, "bytes": sent})
    frame = _frame(path, rows, SEND_COLUMNS, "sends")
    for end in ("from", "to"):
        if not frame[end].is_between(0, cells - 1).all():
            raise _damaged(path, "a 'sends' line names a rank that does not exist")
    return frame
