"""The header of a run, ``run.toml``, with checks of every key that an analysis uses."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import MAXYEAR, MINYEAR, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.files import is_part, read_toml, stands, step_to_read
from bareline.vocabulary.model import Better, Layer, Scalar
from bareline.vocabulary.sanitize import LONGEST_NAME, sanitized_name
from bareline.vocabulary.validation_errors import problem_of

#: Version of the run directory's layout; runs with another version are refused.
SCHEMA = 1

#: Name of the file within a run directory.
HEADER_FILE = "run.toml"
#: Name of the file of records, which grows.
RECORDS_FILE = "records.jsonl"

_MEND = "take it from a copy of the run, or measure again into a new folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """The content of ``run.toml``, which is sufficient to compute the plan again.

    - `study`, `platforms`: the content of the study and platform files; this module does not
      interpret it.
    - `probes`: each probe's layer, headline metric, metrics and default parameters, so that an
      analysis does not need the probe.
    - `control`: the name under which the baseline was measured a second time; "" if it was not.
      Platforms are not compared with it.
    - `edited`: whether the file was changed after it was written. The run may then have been
      measured with settings other than the settings in the file.
    """

    study: Mapping[str, Any]
    probes: Mapping[str, Mapping[str, Any]]
    platforms: Mapping[str, Mapping[str, Any]]
    baseline: str
    seed: int
    created: str
    versions: Mapping[str, str]
    control: str = ""
    schema: int = SCHEMA
    edited: bool = False

    @property
    def imported(self) -> bool:
        """Return whether the results were imported, not measured."""
        return any(table.get("type") == "import" for table in self.platforms.values())

    @property
    def roles(self) -> dict[str, RoleKeys]:
        """The roles of the study, by name; empty for a study that does not repeat a publication."""
        tables = self.study.get("role", {})
        return {name: RoleKeys.model_validate(table) for name, table in tables.items()}

    def calibration(self, platform: str) -> CalibrationKeys | None:
        """Return the calibration of a simulated platform; None if it has none."""
        return _Platform.model_validate(self.platforms.get(platform, {"type": ""})).calibration

    @property
    def defaults(self) -> dict[str, Mapping[str, Scalar]]:
        """The default parameters of each probe at the time of the run; early runs lack them."""
        return {
            name: declared["defaults"]
            for name, declared in self.probes.items()
            if "defaults" in declared
        }

    @property
    def config_hash(self) -> str:
        """A hash of all keys that determine the measurements."""
        content: list[Any] = [self.study, self.platforms, self.baseline, self.seed]
        # Older runs have neither key; without them, their hash does not change.
        content += [part for part in (self.control, self.defaults) if part]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_toml(self) -> str:
        """Return the text of the file.

        Raises ValueError: `read_header` would refuse the text.
        """
        import tomli_w

        content: dict[str, Any] = {
            "schema": self.schema,
            "created": self.created,
            "seed": self.seed,
            "baseline": self.baseline,
        }
        if self.control:
            content["control"] = self.control
        content |= {
            "config_hash": self.config_hash,
            "versions": dict(self.versions),
            "probe": dict(self.probes),
            "study": dict(self.study),
            "platform": {name: dict(spec) for name, spec in self.platforms.items()},
        }
        text = tomli_w.dumps(content)
        text.encode()
        _header(tomllib.loads(text))
        return text


class _Table(BaseModel):
    """A table whose values must have the declared types: they are not converted."""

    model_config = ConfigDict(defer_build=True, strict=True)


#: Parameters of a probe that can be converted to the canonical text of a case.
_Params = dict[
    Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$", max_length=LONGEST_NAME)],
    bool | int | Annotated[float, Field(allow_inf_nan=False)] | str,
]


#: A name, which the tables of a report print. A name that is too long is refused, because
#: references to it would also have to be cut. A title that is too long is cut.
_Name = Annotated[str, Field(max_length=LONGEST_NAME)]
_Title = Annotated[str, AfterValidator(sanitized_name)]


def _no_place(name: str) -> str:
    if "/" in name or "\0" in name:
        raise ValueError(
            "the name is not valid: it is also the name of a file, so that it cannot contain '/'"
        )
    return name


_FileName = Annotated[_Name, AfterValidator(_no_place)]


class _Metric(_Table):
    unit: _Name
    better: Better
    detail: bool = False


class _Declaration(_Table):
    layer: Annotated[Layer, Field(strict=False)]
    title: _Title = ""
    headline: str
    defaults: _Params | None = None
    metrics: dict[_Name, _Metric]

    @model_validator(mode="after")
    def _headline_is_a_metric(self) -> Self:
        if self.headline not in self.metrics:
            raise ValueError(f"the headline '{self.headline}' is not a metric of the probe")
        return self


class _Head(_Table):
    """The keys of a study that an analysis reads; `study_from_toml` checks the other keys."""

    name: str = ""
    title: str = ""
    description: str = ""
    question: list[str] = []
    scale: str | None = None
    scale_changes: list[str] = []
    ladder: bool = False
    layouts: Literal["equal", "any"] = "equal"
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    precision: Annotated[float, Field(ge=0)] | None = None
    budget_s: Annotated[float, Field(ge=0)] | None = None


class RoleKeys(_Table):
    """A ``[role.NAME]`` of a run: a role in a published study, and the run's platform in this role.

    Attributes
    ----------
    title
        Head of the column.
    platform
        The platform in this role; None if the role was not measured.
    published
        The published platforms that the role represents, as ``publication:platform``.
    """

    title: _Title = ""
    platform: str | None = None
    published: list[str] = []


class _Measure(_Table):
    """The keys of a ``[[measure]]`` that an analysis reads."""

    probe: str
    platforms: list[str] | None = None
    per_rank: dict[str, int | float] = {}


class _Program(_Table):
    """The keys of an ``[app.NAME]`` that an analysis reads."""

    params: _Params = {}


class _Study(_Table):
    study: _Head
    app: dict[_Name, _Program] = {}
    measure: list[_Measure] = []
    exhibit: list[ExhibitSpec] = []
    role: dict[_Name, RoleKeys] = {}


class CalibrationKeys(_Table):
    """The calibration of a simulated platform, and its agreement with measurements.

    - `curve`: points, each with the message size in bytes and the one-way time in s.
    - `checks`: comparisons, each with probe, ranks, parameters, unit, measured and simulated value.
    - `error`: the largest of the probes' median relative errors.
    - `source`: origin of the curve.
    """

    curve: list[Annotated[list[float], Field(min_length=2, max_length=2)]] = []
    checks: list[Annotated[list[str | int | float], Field(min_length=6, max_length=6)]] = []
    error: float | None = None
    source: str = ""


class _Platform(_Table):
    model_config = ConfigDict(defer_build=True, strict=True, extra="allow")

    type: str
    title: str = ""

    @property
    def calibration(self) -> CalibrationKeys | None:
        extra = self.model_extra or {}
        if self.type != "sim" or not extra.get("checks"):
            return None
        return CalibrationKeys.model_validate(extra)

    @model_validator(mode="after")
    def _calibration_is_whole(self) -> Self:
        _ = self.calibration
        return self


class _File(_Table):
    seed: int
    baseline: str
    control: str = ""
    created: str
    versions: dict[str, str]
    probe: dict[_Name, _Declaration]
    study: _Study
    platform: dict[_FileName, _Platform]


def read_header(run: Path) -> Header:
    """Return the header of a run.

    If the header has no title of a probe, as in runs of the first versions, the name is the title.

    Raises StoreError: the folder is not a run directory, its schema has another version, or its
    header is damaged.
    """
    content = _read_toml(run)
    schema = content.get("schema")
    if isinstance(schema, int) and schema != SCHEMA:
        age = "an older"
        hint = "read the run with that version, or measure again"
        if schema > SCHEMA:
            age = "a newer"
            hint = "update bareline"
        raise StoreError(
            f"the run was written by {age} version of bareline (schema {schema})",
            where=str(run),
            hint=hint,
        )
    try:
        header = _header(content)
    except ValueError as error:
        raise _damaged(first_problem(error), run) from error
    return replace(header, edited=header.config_hash != content.get("config_hash"))


def _header(content: dict[str, Any]) -> Header:
    checked = _File.model_validate(content)
    if checked.baseline not in checked.platform:
        raise ValueError(f"the baseline '{checked.baseline}' is not a platform of the run")
    if checked.control and checked.control not in set(checked.platform) - {checked.baseline}:
        raise ValueError(
            f"the control '{checked.control}' is not a platform of the run, or it is the baseline"
        )
    if not is_date(checked.created):
        raise ValueError(f"key 'created': '{checked.created}' is not a date and time (ISO 8601)")
    return Header(
        study=content["study"],
        probes={
            name: {**table.model_dump(mode="json", exclude_none=True), "title": table.title or name}
            for name, table in checked.probe.items()
        },
        platforms=content["platform"],
        baseline=checked.baseline,
        control=checked.control,
        seed=checked.seed,
        created=checked.created,
        versions=checked.versions,
    )


def is_date(text: str) -> bool:
    """Return whether a text is an ISO 8601 date that can be converted to any time zone.

    In the first and last year of Python's calendar, this conversion can fail.
    """
    try:
        year = datetime.fromisoformat(text).year
    except ValueError:
        return False
    return MINYEAR < year < MAXYEAR


def first_problem(error: Exception) -> str:
    """Return a line about the first error in a file of a run, with the key."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if not isinstance(error, ValidationError):
        return str(error)
    problem = problem_of(error)
    return f"key '{problem.key}': {problem.clause}" if problem.place else problem.clause


def _was_begun(run: Path) -> bool:
    """Return whether a folder has a part of ``run.toml``, left by a process that was killed."""
    if stands(run / f"{HEADER_FILE}.part"):
        return True
    try:
        return any(is_part(path.name) for path in run.iterdir())
    except OSError:
        return False


def _read_toml(run: Path) -> dict[str, Any]:
    try:
        return read_toml(run / HEADER_FILE, within=run)
    except OSError as error:
        if _was_begun(run):
            raise StoreError(
                "bareline was killed while it made this run directory, so that nothing was"
                " measured",
                where=str(run),
                hint=f"make the run again: `bareline run ... --out {run}`",
            ) from error
        step = "give the folder that `bareline run` printed last"
        hint = step_to_read(error, step)
        problem = "the folder is not a run directory" if hint == step else "the run cannot be read"
        why = f"{problem}: {error.strerror} ({HEADER_FILE})"
        raise StoreError(why, where=str(run), hint=hint) from error
    except ValueError as error:
        raise _damaged(str(error), run) from error


def _damaged(problem: str, run: Path) -> StoreError:
    return StoreError(f"{HEADER_FILE} is damaged: {problem}", where=str(run), hint=_MEND)
