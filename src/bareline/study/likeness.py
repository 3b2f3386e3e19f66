"""What a plan lays out unlike on two platforms, so that it will never be compared.

Analysis refuses to compare two ranks that share a node's memory with two ranks on two nodes. The
plan knows the layouts before anything is measured, and says so then.
"""

from __future__ import annotations

from collections.abc import Sequence

from bareline.study.plan import cases_words, choose
from bareline.study.study import Study
from bareline.vocabulary.model import Layout
from bareline.vocabulary.place import nodes_words
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.units import listing


def unlike(study: Study, platforms: Sequence[PlatformSpec], baseline: str) -> list[str]:
    """Say in lines what could not be compared with the baseline, and what mends it.

    - `baseline`: one of the platforms.
    """
    if study.layouts != "equal":
        return []
    choice = choose(study, platforms)
    names = [spec.name for spec in platforms]
    base = names.index(baseline)
    groups: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    alike: set[str] = set()
    nodes: set[int] = set()
    for (number, at), cell in choice.cells.items():
        other = choice.cells.get((base, at))
        if number == base or other is None:
            continue
        if cell.layout == other.layout:
            alike.add(names[number])
            continue
        nodes |= {cell.layout.nodes, other.layout.nodes}
        case = choice.cases[at]
        group = groups.setdefault((names[number], *_worded(cell.layout, other.layout)), {})
        group.setdefault(case.probe, []).append(case.ranks)
    if not groups:
        return []
    lines = []
    for (name, own, theirs), probes in groups.items():
        what = cases_words(probes)
        lines.append(f"{what} cannot be compared: {own} on {name}, {theirs} on {baseline}")
    nothing = [name for name in dict.fromkeys(key[0] for key in groups) if name not in alike]
    if nothing:
        lines.append(f"nothing of this study can be compared on {listing(nothing)}")
    return [*lines, _mend(min(nodes))]


def _worded(own: Layout, base: Layout) -> tuple[str, str]:
    """Word two layouts so that they differ."""
    first, second = nodes_words(own.nodes), nodes_words(base.nodes)
    return (first, second) if first != second else (str(own), str(base))


def _mend(nodes: int) -> str:
    return (
        "to compare, choose platforms of as many nodes (bare-pair is this machine as two hosts), "
        f'write `nodes = {nodes}` into the [[measure]], or `layouts = "any"` into [study]'
    )
