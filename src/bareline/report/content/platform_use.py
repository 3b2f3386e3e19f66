"""The use of the platforms: the waiting time for them, failed trials, and the price of a job.

The columns follow Section VI of the Nebula study. It counts the obstacles before a user of a cloud
gets the first number: waiting, nodes that are missing or replaced, trials that do not end, and the
price.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import polars as pl

from bareline.analysis.judgements.losses import mean_of
from bareline.analysis.numbers.row import Estimate, Row, with_interval
from bareline.report.blocks import Block, Prose, Rows, Section
from bareline.report.content.document import Document
from bareline.store.run_files import Event
from bareline.vocabulary.events import CAME_UP, is_replacement
from bareline.vocabulary.facts import PRICE_CURRENCY, PRICE_PER_HOUR
from bareline.vocabulary.model import Layer, Stage
from bareline.vocabulary.units import HOUR_S, format_duration, listing, plain, significant

#: Layers of the programs whose times give the time of a job.
_JOBS = (Layer.NPB, Layer.APP)


@dataclass(frozen=True, slots=True)
class PlatformUse:
    """The time, nodes, failures and price of using one platform.

    - `usable_s`: median time until the platform was usable; None if its nodes are permanent.
    - `requested`, `received`: numbers of nodes that were requested and received; None if unknown.
    - `replaced`: how often nodes were replaced.
    - `lost`: failed trials by stage, in words.
    - `job_price`: price, in `currency`, of a job on this platform that takes one hour on a node of
      the baseline.
    """

    platform: str
    usable_s: float | None
    requested: int | None
    received: int | None
    replaced: int
    lost: str
    core_hours: float | None
    job_price: Estimate | None
    currency: str

    @property
    def is_notable(self) -> bool:
        """Whether more is known than core hours and nodes, which every run has."""
        return bool(self.usable_s is not None or self.replaced or self.lost or self.job_price)


def use_section(document: Document) -> Iterator[Block]:
    """Yield the table of the platforms' use, if any platform's use is notable."""
    uses = [_use_of(document, name) for name in document.names]
    if not any(use.is_notable for use in uses):
        return
    rows = Rows(uses).platform(lambda use: use.platform)
    rows.number("until usable", lambda use: use.usable_s, format_duration)
    rows.number("nodes asked", lambda use: use.requested)
    rows.number("received", lambda use: use.received)
    rows.number("replaced", lambda use: use.replaced)
    rows.text("trials lost, by stage", lambda use: use.lost or "none", wrap=True)
    rows.number("core hours", lambda use: use.core_hours, significant)
    priced = any(use.job_price for use in uses)
    if priced:
        rows.figure("price of a job", _price_words)
    blocks: list[Block] = [rows.table(look="plain", label="Use of the platforms")]
    if priced:
        blocks.append(Prose((_PRICE_NOTE,)))
    yield Section("Use", tuple(blocks))


_PRICE_NOTE = (
    "Price of a job: that of a node and hour, times the geometric mean by which the programs take "
    "longer than on the baseline: a job of one hour on one node of the baseline."
)


def _price_words(use: PlatformUse) -> str:
    if use.job_price is None:
        return "–"
    return with_interval(use.job_price, use.currency, plain)


def _use_of(document: Document, name: str) -> PlatformUse:
    events = _events_of(document, name)
    times_s = [event.seconds for event in events if event.event.startswith(CAME_UP)]
    known_s = [seconds for seconds in times_s if seconds is not None]
    usable_s = median(known_s) if known_s else None
    facts = document.facts[name]
    received = facts.get("node.count")
    retries = facts.get("cloud.retries")
    nodes = received if isinstance(received, int) else None
    retried = retries if isinstance(retries, int) else 0
    return PlatformUse(
        platform=name,
        usable_s=usable_s,
        requested=_requested(document, name),
        received=nodes,
        replaced=retried + sum(is_replacement(event.event) for event in events),
        lost=_lost(document, name),
        core_hours=_core_hours(document, name),
        job_price=_job_price(document, name),
        currency=str(facts.get(PRICE_CURRENCY, "")),
    )


def _events_of(document: Document, name: str) -> list[Event]:
    records = document.records
    events: list[Event] = []
    for number, run in enumerate(records.runs):
        for event in run.events():
            if records.name_of(event.platform, number) == name:
                events.append(event)
    return events


def _requested(document: Document, name: str) -> int | None:
    """Return the number of nodes that the run's description of a platform requests."""
    records = document.records
    for number, run in enumerate(records.runs):
        for declared_name, table in run.header.platforms.items():
            nodes = table.get("nodes")
            if records.name_of(declared_name, number) != name:
                continue
            if isinstance(nodes, int) and not isinstance(nodes, bool):
                return nodes
    return None


def _lost(document: Document, name: str) -> str:
    """Return the failed trials by stage, in words.

    Trials of a program that is not installed are not counted.
    """
    trials = document.records.trials.filter(platform=name, status="failed")
    failed = trials.filter(pl.col("stage") != Stage.ABSENT.value)
    counted = failed.group_by("stage", maintain_order=True).agg(pl.len().alias("trials"))
    return listing([f"{row['trials']} {row['stage']}" for row in counted.iter_rows(named=True)])


def _core_hours(document: Document, name: str) -> float | None:
    records = document.records
    core_hours: list[float] = []
    for number, run in enumerate(records.runs):
        for declared_name, core_s in (run.cost() or {}).items():
            if records.name_of(declared_name, number) == name:
                core_hours.append(core_s / HOUR_S)
    return sum(core_hours) if core_hours else None


def _job_price(document: Document, name: str) -> Estimate | None:
    price = document.facts[name].get(PRICE_PER_HOUR)
    if isinstance(price, bool) or not isinstance(price, int | float):
        return None
    if name == document.baseline:
        return Estimate(float(price))
    ratios = [cell.ratio for cell in document.cells if _is_job(cell, name) and cell.ratio]
    return mean_of(ratios).times(float(price)) if ratios else None


def _is_job(cell: Row, name: str) -> bool:
    return cell.platform == name and cell.layer in _JOBS and cell.headline and cell.compared
