"""The survey of a cluster in the terminal: the list of deviations, and a map of the nodes."""

from __future__ import annotations

from collections.abc import Iterator

from bareline.analysis.judgements.survey import Survey
from bareline.analysis.words.parts import capital
from bareline.analysis.words.remarks import survey_gaps
from bareline.report.blocks import Block, Remark
from bareline.report.content.fleet import (
    method_words,
    remedy,
    rows_of_nodes,
    server_words,
    survey_lines,
)
from bareline.vocabulary.units import count

_PER_ROW = 64
_FINE = "·"
_BAD = "#"
_OF_SWITCH = "+"


def survey_blocks(survey: Survey) -> Iterator[Block]:
    """Yield the list of deviations, the map of nodes, and the chance of a false deviation."""
    head, *lines = survey_lines(survey)
    yield Remark(head, "bold")
    for line in lines:
        yield Remark(f"  {line}", unbroken=True)
    yield from _map(survey)
    servers = server_words(survey)
    if servers:
        yield Remark(servers)
    for line in survey_gaps(survey):
        yield Remark(f"{capital(line)}.", "muted")
    yield Remark(f"{method_words(survey)}.", "muted")
    step = remedy(survey)
    if step:
        yield Remark(step, unbroken=True)


def _map(survey: Survey) -> Iterator[Block]:
    """Yield a map with a sign for each node; rows without deviations are only counted."""
    fleet = survey.fleet
    bad = set(survey.bad_nodes)
    of_switch = _nodes_of_slow_switches(survey)
    if not bad and not of_switch:
        return

    def sign(name: str) -> str:
        if name in bad:
            return _BAD
        return _OF_SWITCH if name in of_switch else _FINE

    healthy = 0
    drawn: list[tuple[str, str]] = []
    for title, nodes in rows_of_nodes(fleet, _PER_ROW):
        signs = "".join(sign(fleet.nodes[node]) for node in nodes)
        if set(signs) == {_FINE}:
            healthy += 1
        else:
            drawn.append((title, signs))
    width = max(len(title) for title, _ in drawn)
    for title, signs in drawn:
        yield Remark(f"  {title:{width}}  {signs}", unbroken=True)
    rest = f"; {count(healthy, 'row')} without either" if healthy else ""
    yield Remark(f"  {_BAD} the node deviates, {_OF_SWITCH} its switch does{rest}", "muted")


def _nodes_of_slow_switches(survey: Survey) -> set[str]:
    names: set[str] = set()
    for unit in survey.deviating:
        if unit.kind in ("switch", "uplink"):
            names.update(survey.fleet.switches.get(unit.names[0], ()))
    return names
