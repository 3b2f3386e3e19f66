"""The survey of a fleet on a terminal: what deviates, and a map of where."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from bareline.analysis.judgements.survey import Survey
from bareline.analysis.words.remarks import survey_gaps
from bareline.report.content.fleet import method_words, remedy, rows_of_nodes, survey_lines
from bareline.report.writers.console import clean
from bareline.vocabulary.units import count

_PER_ROW = 64
_FINE, _BAD, _OF_SWITCH = "·", "#", "+"


def print_survey(found: Survey, console: Console) -> None:
    """Print the list, the map and how certain it is."""
    head, *lines = survey_lines(found)
    console.print(Text(clean(head), style="bold"))
    for line in lines:
        console.print(clean(f"  {line}"), soft_wrap=True)
    _print_map(found, console)
    for line in survey_gaps(found):
        console.print(Text(clean(f"{line[:1].upper()}{line[1:]}."), style="dim"))
    console.print(Text(clean(f"{method_words(found)}."), style="dim"))
    if remedy(found):
        console.print(clean(remedy(found)), soft_wrap=True)


def _print_map(found: Survey, console: Console) -> None:
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
        console.print(clean(f"  {title:{width}}  {signs}"), soft_wrap=True)
    rest = f"; {count(healthy, 'row')} without either" if healthy else ""
    console.print(
        Text(f"  {_BAD} the node deviates, {_OF_SWITCH} its switch does{rest}", style="dim")
    )
