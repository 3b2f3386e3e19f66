"""What ``run.toml`` says of a run: read with every key checked that an analysis relies on."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bareline.errors import StoreError
from bareline.model import Better, Layer

#: Version of the run directory's layout; a reader refuses every other.
SCHEMA = 1

#: Name of the file within a run directory.
HEADER_FILE = "run.toml"

_MEND = "take it from a copy of the run, or measure again into a new folder"


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

    def to_toml(self) -> str:
        """Give the text of the file."""
        import tomli_w

        content = {
            "schema": self.schema,
            "created": self.created,
            "seed": self.seed,
            "baseline": self.baseline,
            "config_hash": self.config_hash,
            "versions": dict(self.versions),
            "probe": dict(self.probes),
            "study": dict(self.study),
            "platform": {name: dict(spec) for name, spec in self.platforms.items()},
        }
        return tomli_w.dumps(content)


class _Table(BaseModel):
    """Types are not converted: what an older bareline wrote otherwise is not guessed at."""

    model_config = ConfigDict(strict=True)


class _Metric(_Table):
    unit: str
    better: Better
    detail: bool = False


class _Declaration(_Table):
    layer: Annotated[Layer, Field(strict=False)]
    title: str = ""
    headline: str
    metrics: dict[str, _Metric]

    @model_validator(mode="after")
    def _headline_is_a_metric(self) -> Self:
        if self.headline not in self.metrics:
            raise ValueError(f"the headline '{self.headline}' is none of the metrics")
        return self


class _Head(_Table):
    """Of the study only what an analysis reads: `study_from_toml` checks the rest to go on."""

    name: str = ""
    title: str = ""
    description: str = ""
    scale: str | None = None
    ladder: bool = False
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    precision: Annotated[float, Field(ge=0)] | None = None
    budget_s: Annotated[float, Field(ge=0)] | None = None


class ExhibitKeys(_Table):
    """Keys of an ``[[exhibit]]``; a study file may hold no others."""

    kind: str
    title: str = ""
    caption: str = ""
    probe: str | None = None
    metric: str | None = None
    x: str | None = None
    where: dict[str, Any] = {}


class _Study(_Table):
    study: _Head
    exhibit: list[ExhibitKeys] = []


class _Platform(_Table):
    type: str
    title: str = ""


class _File(_Table):
    seed: int
    baseline: str
    created: str
    versions: dict[str, str]
    probe: dict[str, _Declaration]
    study: _Study
    platform: dict[str, _Platform]


def read_header(run: Path) -> Header:
    """Read the header of a run directory.

    A probe without a title, as the first versions left it, is called by its name.

    Raises
    ------
    StoreError
        It is no run directory, made by another version's schema, or damaged.
    """
    content = _read_toml(run)
    found = content.get("schema")
    if isinstance(found, int) and found != SCHEMA:
        newer = found > SCHEMA
        raise StoreError(
            f"written by {'a newer' if newer else 'an older'} bareline (schema {found})",
            where=str(run),
            hint="update bareline" if newer else "read it with that one, or measure again",
        )
    try:
        checked = _File.model_validate(content)
    except ValidationError as error:
        raise _damaged(first_problem(error), run) from error
    if checked.baseline not in checked.platform:
        raise _damaged(f"the baseline '{checked.baseline}' is none of its platforms", run)
    return Header(
        study=content["study"],
        probes={
            name: {**table.model_dump(mode="json"), "title": table.title or name}
            for name, table in checked.probe.items()
        },
        platforms=content["platform"],
        baseline=checked.baseline,
        seed=checked.seed,
        created=checked.created,
        versions=checked.versions,
    )


def first_problem(error: Exception) -> str:
    """Say in one line what is wrong with a file of a run, and at which key."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    return f"key '{key}': {first['msg']}" if key else str(first["msg"])


def _read_toml(run: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((run / HEADER_FILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(
            f"not a run directory: {error.strerror} ({HEADER_FILE})",
            where=str(run),
            hint="give the folder that `bareline run` printed last",
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _damaged(str(error), run) from error


def _damaged(what: str, run: Path) -> StoreError:
    return StoreError(f"{HEADER_FILE} is damaged: {what}", where=str(run), hint=_MEND)
