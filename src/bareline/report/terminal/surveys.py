"""A cluster's nodes on the terminal: deviations and their places."""

from __future__ import annotations

from collections.abc import Iterator

from bareline.analysis.judgements.survey import Survey
from bareline.analysis.words.remarks import survey_gaps
from bareline.report.blocks import Block, Remark
from bareline.report.content.fleet import (
    method_words,
    remedy,
    rows_of_nodes,
    server_words,
    survey_lines,
)
from bareline.report.content.wording import capital
from bareline.vocabulary.units import count

_PER_ROW = 64
_FINE, _BAD, _OF_SWITCH = "·", "#", "+"


def survey_blocks(found: Survey) -> Iterator[Block]:
    """Yield the list, the map and how certain it is."""
    head, *lines = survey_lines(found)
    yield Remark(head, "bold")
    for line in lines:
        yield Remark(f"  {line}", unbroken=True)
    yield from _map(found)
    if server_words(found):
        yield Remark(server_words(found))
    for line in survey_gaps(found):
        yield Remark(f"{capital(line)}.", "muted")
    yield Remark(f"{method_words(found)}.", "muted")
    if remedy(found):
        yield Remark(remedy(found), unbroken=True)


def _map(found: Survey) -> Iterator[Block]:
    fleet, bad = found.fleet, set(found.bad_nodes)
    slow = {one.names[0] for one in found.deviating if one.kind in ("switch", "uplink")}
    of_switch = {name for at in slow for name in fleet.switches.get(at, ())}
    if not bad and not of_switch:
        return
    healthy, drawn = 0, []
    for title, nodes in rows_of_nodes(fleet, _PER_ROW):
        names = [fleet.nodes[node] for node in nodes]
        signs = "".join(
            _BAD if name in bad else _OF_SWITCH if name in of_switch else _FINE for name in names
        )
        if set(signs) == {_FINE}:
            healthy += 1
        else:
            drawn.append((title, signs))
    width = max(len(title) for title, _ in drawn)
    for title, signs in drawn:
        yield Remark(f"  {title:{width}}  {signs}", unbroken=True)
    rest = f"; {count(healthy, 'row')} without either" if healthy else ""
    yield Remark(f"  {_BAD} the node deviates, {_OF_SWITCH} its switch does{rest}", "muted")
