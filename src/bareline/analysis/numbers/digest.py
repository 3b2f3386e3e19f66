"""The digest of a run for histories: its medians, facts and date, cached by the run's content.

A completed run does not change any more. So its digest is computed once and stored in the cache
under the hash of the run's files. The history of a thousand runs then reads a thousand small files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config

from bareline.analysis.numbers.dates import RunDate, date_of
from bareline.analysis.numbers.parameters import Params, defaults_of
from bareline.analysis.numbers.records import margin_of, read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.store.accepted import ACCEPTED_FILE
from bareline.store.digests import content_key, find_digest, keep_digest
from bareline.store.header import RECORDS_FILE
from bareline.store.run import Run
from bareline.vocabulary.caveats import codes, read_caveats
from bareline.vocabulary.errors import AnalysisError, StoreError
from bareline.vocabulary.files import open_regular
from bareline.vocabulary.model import Scalar
from bareline.vocabulary.place import KEY

#: This number changes whenever a digest of the same files would have different content.
_FORM = "trend 1"
#: Columns of a row of a digest; each value is the median of one run.
ROW = ("platform", *KEY, "layer", "unit", "better", "headline", "value", "lo", "hi")
_Column = list[str | bool | int | Annotated[float, Field(allow_inf_nan=False)] | None]


@with_config(ConfigDict(strict=True))
@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    """The content of a run's digest, which is stored in the cache."""

    created: str
    date: str
    date_source: str
    imported: bool
    study: str
    margin: float
    baseline: str
    version: str | None
    simulated: list[str]
    defaults: dict[str, dict[str, Scalar]]
    facts: dict[str, dict[str, Scalar]]
    columns: dict[str, _Column]


_CONTENT: TypeAdapter[_Content] = TypeAdapter(_Content)
_SCHEMA: Mapping[str, Any] = {
    **dict.fromkeys(ROW, pl.String),
    **dict.fromkeys(("ranks", "threads", "nodes"), pl.Int64),
    **dict.fromkeys(("value", "lo", "hi"), pl.Float64),
    "headline": pl.Boolean,
}


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A run that cannot be a part of a history, and the reason."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class RunDigest:
    """The part of a run that a history needs.

    - `margin`: the equivalence margin that the run's study declares.
    - `defaults`: the default parameters of each probe, by the probe's name.
    - `facts`: the flat facts of each platform.
    - `table`: one row for each point whose metric has a good direction, with the columns of `ROW`.
    """

    path: Path
    date: RunDate
    study: str
    margin: float
    baseline: str
    version: str | None
    simulated: frozenset[str]
    defaults: Mapping[str, Params]
    facts: Mapping[str, Mapping[str, Scalar]]
    table: pl.DataFrame

    @property
    def name(self) -> str:
        """The name of the run: the name of its folder."""
        return self.path.name or str(self.path)


def read_digest(path: Path) -> RunDigest | Incomplete:
    """Return the digest of the run at `path`, or the reason why a history cannot include it."""
    try:
        key = content_key(path, _FORM)
        content = _find(key)
        if content is None:
            content = _content_of(Run.open(path))
            keep_digest(key, _CONTENT.dump_json(content))
    except (AnalysisError, StoreError) as error:
        return Incomplete(path, error.what)
    except OSError as error:
        return Incomplete(path, f"cannot be read: {error.strerror}")
    return _digest(path, content)


def _find(key: str) -> _Content | None:
    data = find_digest(key)
    if data is None:
        return None
    try:
        return _CONTENT.validate_json(data)
    except ValidationError:
        return None


def _content_of(run: Run) -> _Content:
    """Compute the content of a run's digest.

    Raises AnalysisError: the run is incomplete, or has no values that can be compared.
    """
    if run.is_being_written():
        raise AnalysisError("the run is being measured now")
    if _is_torn(run.path / RECORDS_FILE):
        raise AnalysisError("the last record of the run is incomplete because bareline was killed")
    records = read_runs([run])
    table = summarize(records)
    simulated = set()
    for platform, caveats in table.select("platform", "caveats").iter_rows():
        if "simulated" in codes(read_caveats(caveats)):
            simulated.add(platform)
    is_judged = pl.col("better") != "none"
    headlines = table.filter(~pl.col("detail"), is_judged).select(ROW)
    if table.is_empty():
        raise AnalysisError("all trials of the run failed")
    if headlines.is_empty():
        raise AnalysisError("the run has no metric that can be compared")
    date = date_of(run)
    study_name = run.header.study.get("study", {}).get("name", "")
    defaults = defaults_of(run.header)
    return _Content(
        created=run.header.created,
        date=date.text,
        date_source=date.source,
        imported=run.header.imported,
        study=str(study_name),
        margin=margin_of(run),
        baseline=run.header.baseline,
        version=run.header.versions.get("bareline"),
        simulated=sorted(simulated),
        defaults={name: dict(params) for name, params in defaults.items()},
        facts={name: dict(facts) for name, facts in records.facts.items()},
        columns=headlines.to_dict(as_series=False),
    )


def _is_torn(path: Path) -> bool:
    with open_regular(path, within=path.parent) as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            return False
        file.seek(size - 1)
        return file.read(1) != b"\n"


def _digest(path: Path, content: _Content) -> RunDigest:
    table = pl.DataFrame(content.columns, schema=dict(_SCHEMA), strict=False)
    return RunDigest(
        path=path,
        date=RunDate(content.date, content.date_source),
        study=content.study,
        margin=content.margin,
        baseline=content.baseline,
        version=content.version,
        simulated=frozenset(content.simulated),
        defaults=content.defaults,
        facts=content.facts,
        table=table,
    )


def read_digests(paths: Sequence[Path]) -> tuple[list[RunDigest], list[Incomplete]]:
    """Return the digests of runs, the oldest first, and the runs without a digest."""
    # `nights/*` also gives the file of acceptances.
    digests = []
    for path in paths:
        if path.name != ACCEPTED_FILE:
            digests.append(read_digest(path))
    complete = [digest for digest in digests if isinstance(digest, RunDigest)]
    complete.sort(key=lambda digest: (digest.date.moment, digest.name))
    return complete, [digest for digest in digests if isinstance(digest, Incomplete)]
