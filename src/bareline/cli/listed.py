"""What ``--json`` prints of what there is and of what was done: as `bareline.cli.rows`."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from bareline.cli.rows import Params
from bareline.vocabulary.model import Better, Layer


class Check(TypedDict):
    """``doctor``: what works here, and what mends what does not."""

    group: str
    name: str
    status: Literal["ok", "warn", "missing", "failed"]
    detail: str
    hint: str


class Built(TypedDict):
    """``build``: native programs of a toolchain."""

    platform: NotRequired[str]
    toolchain: str
    path: str
    log: str
    left_out: list[str]
    seconds: float
    cached: bool
    host: str


class PlatformListed(TypedDict):
    """``platforms``: a platform, and whether it can be used here."""

    platform: str
    type: str
    title: str
    nodes: int
    builtin: bool
    available: bool
    reason: str
    hint: str
    running: str


@with_config(ConfigDict(extra="allow"))
class PlatformShown(TypedDict):
    """``platforms show``: a platform as it is configured; its options are further columns."""

    name: str
    type: str


class FromReframe(TypedDict):
    """``platforms from-...``: tables of a platform file, and what they leave out."""

    platform: dict[str, dict[str, Any]]
    notes: dict[str, list[str]]


class MetricDeclared(TypedDict):
    """A metric of a probe."""

    metric: str
    unit: str
    better: Better
    detail: bool


class ProbeListed(TypedDict):
    """``probes``: a probe with parameters and metrics."""

    probe: str
    layer: Layer
    title: str
    summary: str
    source: str
    min_ranks: int
    nodes: int | None
    headline: str
    params: Params
    metrics: list[MetricDeclared]
    about: str


class StudyListed(TypedDict):
    """``studies``: a built-in study."""

    study: str
    title: str
    description: str
    probes: list[str]
    platforms: list[str]
    roles: dict[str, str]
    launches: int
    cases: int
    scales: list[str]


class PublishedFigure(TypedDict):
    """``published``: a figure as a publication prints it."""

    publication: str
    id: str
    benchmark: str
    metric: str
    kind: str
    platform: str
    baseline: str | None
    value: float | None
    low: float | None
    high: float | None
    bound: str | None
    approx: bool
    unit: str
    better: Better
    at: dict[str, Any]
    conditions: str
    worse_low: float | None
    worse_high: float | None
    text: str
    probe: str | None
    probe_metric: str | None
    part: str
    label: str
    where: str
    note: str
    doubts: list[str]


class PlannedTrial(TypedDict):
    """``run --dry-run``: a trial of the plan."""

    trial: int
    block: int
    platform: str
    control: bool
    probe: str
    params: str
    ranks: int
    threads: int
    profile: bool
    layout: str | None
    timeout_s: float


class PlatformCounts(TypedDict):
    """Trials of a platform."""

    planned: int
    measured: int
    failed: int
    skipped: int
    seconds: float
    core_hours: float | None
    cost: float | None
    currency: str | None
    running: str


class Standing(TypedDict):
    """``run``, ``continue`` and ``status``: how a run stands."""

    run: str
    study: str
    scale: str | None
    created: str
    seed: int
    baseline: str
    control: str | None
    config_hash: str
    planned: int
    measured: int
    failed: int
    skipped: int
    saved: int
    remaining: int
    active: bool
    max_core_hours: float | None
    platforms: dict[str, PlatformCounts]
    machines: list[str]
    left_out: list[str]
    job: NotRequired[str]
    job_state: NotRequired[str]


class Submitted(TypedDict):
    """``submit``: the jobs that measure a run."""

    run: str
    system: str
    jobs: list[str]
    command: list[str]


class Submitting(TypedDict):
    """``submit --dry-run``: what would be handed over."""

    run: str
    system: str
    chain: int
    command: list[str]
    script: str
    plan: list[PlannedTrial]


class RunListed(TypedDict):
    """``runs``: a run directory."""

    run: str
    study: str
    scale: str
    created: str
    platforms: list[str]
    trials: int


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


class Agreement(TypedDict):
    """``calibrate``: a measurement and its simulation."""

    probe: str
    ranks: int
    params: Params
    unit: str
    measured: float
    simulated: float
    error: float


class Written(TypedDict):
    """``report``, ``export`` and ``new``: a file that was written."""

    file: str
    form: str
    samples: NotRequired[int]


class ReadAgain(TypedDict):
    """``reparse``: a trial that came out differently, or could not be read again, and why."""

    trial: int
    platform: str
    probe: str
    before: Literal["measured", "failed"]
    now: Literal["measured", "failed", "unread"]
    reason: str | None


class Removed(TypedDict):
    """``platforms clean``: what was left behind and is gone."""

    removed: str


class SchemaListed(TypedDict):
    """``schema``: a schema, and what it is of."""

    schema: str
    of: str
