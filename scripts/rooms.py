#!/usr/bin/env python3
"""The table of rooms: how many there are, how they import each other, how long things are.

    scripts/rooms.py [SOURCE ...]
    scripts/rooms.py --hold [--lower]

A room is a folder or a flat module of the package (``src/bareline`` of this checkout without an
argument; several are shown side by side). An arrow says that a room imports another one, wherever
the import stands. Floors are counted from the rooms that import none; rooms of a circle share one.
An arrow points upwards when it lies on a circle: no order of the rooms can turn it down. Lines of
functions are counted without docstrings. Needs nothing but Python.

``--hold`` compares with `scripts/rooms.toml`: arrows, files over 400 lines, functions over 40,
arrows upwards between the folders of a room and class names with two meanings may become fewer and
not more, and the longest of each not longer. Which they are may change. Names that are participles
may not rise in any room. Docstrings are at most 15 % of lines. Lines of code have no limit:
`scripts/density.py` limits how dense they are.
``--lower`` then writes what has fallen into that file, so that it cannot rise again.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

Graph = dict[str, set[str]]
#: By name, e.g. ``store -> host`` or ``store/run.py``, and how long each is; arrows have no length.
Held = dict[str, dict[str, int]]

HERE = Path(__file__).resolve().parent
HELD = HERE / "rooms.toml"
TABLE = HERE.parent / "CONTRIBUTING.md"
LONG_FILE, LONG_FUNCTION = 400, 40
#: Rooms whose folders are wings, which import each other one way.
WINGED = ("analysis",)
#: What is counted room by room, and may rise in none of them.
BY_ROOM = ("participles",)
#: Names of variables, parameters, functions and fields that say nothing of what they are.
PARTICIPLES = frozenset({"told", "held", "kept", "around"})
MOST_DOCSTRINGS = 0.15


@cache
def modules_of(package: Path) -> dict[str, ast.Module]:
    """Parse every module of a package, by dotted name below it; ``""`` is the package itself."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        name = ".".join(file.relative_to(package).with_suffix("").parts)
        name = name.removesuffix("__init__").removesuffix(".")
        found[name] = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return found


def imports_of(package: str, modules: Mapping[str, ast.Module]) -> Graph:
    """Return which modules import which."""
    graph: Graph = {name: set() for name in modules}
    for name, tree in modules.items():
        for node in ast.walk(tree):
            for target in _targets(node):
                if target != package and not target.startswith(f"{package}."):
                    continue
                inner = target.removeprefix(package).removeprefix(".")
                while inner and inner not in modules:  # a name within a module
                    inner = inner.rpartition(".")[0]
                if inner and inner != name:
                    graph[name].add(inner)
    return graph


def _targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def rooms_of(imports: Graph) -> Graph:
    """Join the modules of each room."""
    rooms: Graph = {}
    for name, targets in imports.items():
        room = name.partition(".")[0]
        if room:
            others = {target.partition(".")[0] for target in targets}
            rooms.setdefault(room, set()).update(others - {room})
    return rooms


def wings_of(imports: Graph, room: str) -> Graph:
    """Join the modules of each folder of a room."""
    inner = {
        name.removeprefix(f"{room}."): {
            target.removeprefix(f"{room}.") for target in targets if target.startswith(f"{room}.")
        }
        for name, targets in imports.items()
        if name.startswith(f"{room}.")
    }
    return {
        f"{room}/{wing}": {f"{room}/{other}" for other in others}
        for wing, others in rooms_of(inner).items()
    }


def circles_of(graph: Graph) -> list[set[str]]:
    """Return the sets of nodes that reach each other."""
    reach = {node: _reachable(graph, node) for node in graph}
    circles: list[set[str]] = []
    for node in graph:
        circle = {other for other in reach[node] if node in reach.get(other, set())}
        if circle and circle not in circles:
            circles.append(circle)
    return circles


def _reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for target in graph.get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return seen


def floors_of(graph: Graph) -> dict[str, int]:
    """Return each node's floor, from 0."""
    circles = circles_of(graph)
    house = {node: min(next((c for c in circles if node in c), {node})) for node in graph}
    below: Graph = {}
    for node, targets in graph.items():
        below.setdefault(house[node], set()).update(
            house[target] for target in targets if house[target] != house[node]
        )
    floors: dict[str, int] = {}

    def floor(node: str) -> int:
        if node not in floors:
            floors[node] = 1 + max((floor(other) for other in below[node]), default=-1)
        return floors[node]

    return {node: floor(house[node]) for node in graph}


def function_lines(tree: ast.AST, within: str = "") -> Iterator[tuple[str, int]]:
    """Yield the name and the lines of every function, without its docstring."""
    for node in ast.iter_child_nodes(tree):
        name = within
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{within}.{node.name}".removeprefix(".")
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node, clean=False) is not None:
                text = node.body[0]
                lines -= (text.end_lineno or text.lineno) - text.lineno + 1
            yield name, lines
        yield from function_lines(node, name)


def file_lines(package: Path) -> dict[str, int]:
    """Return the lines of every file."""
    return {
        str(file.relative_to(package)): len(file.read_text(encoding="utf-8").splitlines())
        for file in sorted(package.rglob("*.py"))
    }


def participles_of(modules: Mapping[str, ast.Module]) -> dict[str, int]:
    """Count by room where a name that says nothing is given to something."""
    rooms: Counter[str] = Counter()
    for module, tree in modules.items():
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    pass
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    pass
                case _:
                    continue
            rooms[module.partition(".")[0]] += name.strip("_").lower() in PARTICIPLES
    return {room: count for room, count in rooms.items() if count}


def namesakes_of(modules: Mapping[str, ast.Module]) -> dict[str, int]:
    """Count the definitions of a public class name, where these are several."""
    names = Counter(
        node.name
        for tree in modules.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    return {name: count for name, count in names.items() if count > 1}


def upward_of(graph: Graph) -> Iterator[str]:
    """Name the arrows that lie on a circle."""
    for circle in circles_of(graph):
        for node in circle:
            yield from (f"{node} -> {other}" for other in graph[node] if other in circle)


def docstring_share(package: Path, modules: Mapping[str, ast.Module]) -> float:
    """Return the part of all lines that are docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    texts = [
        node.body[0]
        for tree in modules.values()
        for node in ast.walk(tree)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None
    ]
    lines = sum((text.end_lineno or text.lineno) - text.lineno + 1 for text in texts)
    return lines / max(1, sum(file_lines(package).values()))


def figures_of(package: Path) -> dict[str, str]:
    """Count one package."""
    modules = modules_of(package)
    imports = imports_of(package.name, modules)
    rooms = rooms_of(imports)
    rooms.pop("__main__", None)
    circles = circles_of(rooms)
    upward = sum(
        target in circle for circle in circles for room in circle for target in rooms[room]
    )
    files = sorted(file_lines(package).values())
    functions = sorted(lines for tree in modules.values() for _, lines in function_lines(tree))
    return {
        "rooms": str(len(rooms)),
        "of them flat modules": str(sum(_flat(package, room) for room in rooms)),
        "floors": str(1 + max(floors_of(rooms).values())),
        "arrows": str(sum(map(len, rooms.values()))),
        "arrows upwards": str(upward),
        "circles of rooms": str(len(circles)),
        "circles of modules": str(len(circles_of(imports))),
        "class names with two meanings": str(len(namesakes_of(modules))),
        "participles as names": str(sum(participles_of(modules).values())),
        "lines": str(sum(files)),
        "of them docstrings, in percent": f"{100 * docstring_share(package, modules):.0f}",
        "files": str(len(files)),
        "lines of a file, median": f"{statistics.median(files):g}",
        "lines of a file, most": str(files[-1]),
        "files over 400 lines": str(sum(lines > LONG_FILE for lines in files)),
        "functions": str(len(functions)),
        "lines of a function, median": f"{statistics.median(functions):g}",
        "lines of a function, most": str(functions[-1]),
        "functions over 40 lines": str(sum(lines > LONG_FUNCTION for lines in functions)),
    }


def _flat(package: Path, room: str) -> bool:
    return (package / f"{room}.py").is_file()


def held_of(package: Path) -> Held:
    """List what may only become fewer."""
    modules = modules_of(package)
    imports = imports_of(package.name, modules)
    rooms = rooms_of(imports)
    rooms.pop("__main__", None)
    long = {
        f"{name.replace('.', '/')}: {function}": lines
        for name, tree in modules.items()
        for function, lines in function_lines(tree)
        if lines > LONG_FUNCTION
    }
    return {
        "arrows": {f"{room} -> {other}": 0 for room in rooms for other in rooms[room]},
        "wings": {
            f"{wing} -> {other}": 0
            for room in WINGED
            for wing, others in wings_of(imports, room).items()
            for other in others
        },
        "upwards": {arrow: 0 for room in rooms for arrow in upward_of(wings_of(imports, room))},
        "namesakes": namesakes_of(modules),
        "files": {name: lines for name, lines in file_lines(package).items() if lines > LONG_FILE},
        "functions": long,
        "participles": participles_of(modules),
    }


def risen(held: Held, found: Held) -> Iterator[str]:
    """Describe what there is more of than is held, and which are new."""
    for kind, before in held.items():
        now = found[kind]
        new = sorted(name for name in now if now[name] > before.get(name, -1))
        if kind in BY_ROOM:
            for room in new:
                yield f"{kind} of {room}: {now[room]}, not {before.get(room, 0)} any more"
            continue
        listed = "; ".join(f"{name} ({now[name]} lines)" if now[name] else name for name in new)
        if len(now) > len(before):
            yield f"{kind}: {len(now)}, not {len(before)} any more: {listed}"
        elif max(now.values(), default=0) > max(before.values(), default=0):
            yield f"{kind}: the longest has grown: {listed}"


def write_held(found: Held) -> None:
    """Write what is held from now on, here and in the contributors' table."""
    lines = ["# What may only become fewer; `scripts/rooms.py --hold --lower` writes it."]
    for kind, things in found.items():
        lines += ["", f"[{kind}]"]
        lines += [f'"{name}" = {things[name]}' for name in sorted(things)]
    HELD.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = TABLE.read_text(encoding="utf-8")
    for name, figure in figures_of(HERE.parent / "src" / "bareline").items():
        row = rf"^(\| {re.escape(name)} \| )\S+ \|$"
        text = re.sub(row, rf"\g<1>{figure} |", text, flags=re.MULTILINE)
    TABLE.write_text(text, encoding="utf-8")


def hold(found: Held, *, lower: bool) -> int:
    """Compare with what is held; gives the exit code."""
    held = tomllib.loads(HELD.read_text(encoding="utf-8"))
    problems = list(risen(held, found))
    for problem in problems:
        print(f"rooms: {problem}", file=sys.stderr)
    if problems:
        print(
            "rooms: move what is used to where both may read it, or split what is long\n"
            "rooms: (CONTRIBUTING.md, Structure); what has to grow is written into\n"
            "rooms: scripts/rooms.toml by hand, with its reason in the commit",
            file=sys.stderr,
        )
    elif lower and found != held:
        write_held(found)
    elif found != held:
        print(
            "rooms: not as in scripts/rooms.toml; `scripts/rooms.py --hold --lower` writes it anew"
        )
    return bool(problems)


def main() -> None:
    """Print the table, or hold it."""
    here = HERE.parent / "src" / "bareline"
    parser = argparse.ArgumentParser(description="Count rooms, arrows and what is long.")
    parser.add_argument("sources", nargs="*", type=Path, default=[here])
    parser.add_argument("--hold", action="store_true", help="fail where there is more than before")
    parser.add_argument("--lower", action="store_true", help="with --hold: keep what has fallen")
    given = parser.parse_args()
    if given.hold:
        share = docstring_share(here, modules_of(here))
        if share > MOST_DOCSTRINGS:
            print(f"rooms: docstrings are {share:.1%} of all lines, at most 15 %", file=sys.stderr)
        sys.exit(hold(held_of(here), lower=given.lower) or share > MOST_DOCSTRINGS)
    packages = [source.resolve() for source in given.sources]
    for package in packages:
        if not (package / "__init__.py").is_file():
            sys.exit(f"rooms: {package}: not a Python package; give a folder such as src/bareline")
    tables = [figures_of(package) for package in packages]
    width = max(map(len, tables[0]))
    for name in tables[0]:
        print(f"{name:{width}}", *(f"{table[name]:>8}" for table in tables))
    for package in packages:
        imports = imports_of(package.name, modules_of(package))
        for circle in circles_of(imports):
            print(f"circle of modules: {', '.join(sorted(circle))}")


if __name__ == "__main__":
    main()
