#!/usr/bin/env python3
"""The table of rooms: how many there are, how they import each other, how long things are.

    scripts/rooms.py [SOURCE ...]

A room is a folder or a flat module of the package (``src/bareline`` of this checkout without an
argument; several are shown side by side). An arrow says that a room imports another one, wherever
the import stands. Floors are counted from the rooms that import none; rooms of a circle share one.
An arrow points upwards when it lies on a circle: no order of the rooms can turn it down. Lines of
functions are counted without docstrings. Needs nothing but Python.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

Graph = dict[str, set[str]]


def modules_of(package: Path) -> dict[str, ast.Module]:
    """Parse every module of a package, by dotted name below it; ``""`` is the package itself."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        name = ".".join(file.relative_to(package).with_suffix("").parts)
        name = name.removesuffix("__init__").removesuffix(".")
        found[name] = ast.parse(file.read_text(encoding="utf-8"), str(file))
    return found


def imports_of(package: str, modules: Mapping[str, ast.Module]) -> Graph:
    """Give which modules import which."""
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


def circles_of(graph: Graph) -> list[set[str]]:
    """Give the sets of nodes that reach each other."""
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
    """Give each node's floor, from 0."""
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


def function_lines(tree: ast.Module) -> Iterator[int]:
    """Give the lines of every function, without its docstring."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if ast.get_docstring(node, clean=False) is not None:
                text = node.body[0]
                lines -= (text.end_lineno or text.lineno) - text.lineno + 1
            yield lines


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
    files = sorted(
        len(file.read_text(encoding="utf-8").splitlines()) for file in package.rglob("*.py")
    )
    functions = sorted(lines for tree in modules.values() for lines in function_lines(tree))
    return {
        "rooms": str(len(rooms)),
        "of them flat modules": str(sum(_flat(package, room) for room in rooms)),
        "floors": str(1 + max(floors_of(rooms).values())),
        "arrows": str(sum(map(len, rooms.values()))),
        "arrows upwards": str(upward),
        "circles of rooms": str(len(circles)),
        "circles of modules": str(len(circles_of(imports))),
        "files": str(len(files)),
        "lines of a file, median": f"{statistics.median(files):g}",
        "lines of a file, most": str(files[-1]),
        "files over 400 lines": str(sum(lines > 400 for lines in files)),
        "functions": str(len(functions)),
        "lines of a function, median": f"{statistics.median(functions):g}",
        "lines of a function, most": str(functions[-1]),
        "functions over 40 lines": str(sum(lines > 40 for lines in functions)),
    }


def _flat(package: Path, room: str) -> bool:
    return (package / f"{room}.py").is_file()


def main() -> None:
    """Print the table."""
    here = Path(__file__).resolve().parents[1] / "src" / "bareline"
    packages = [Path(given).resolve() for given in sys.argv[1:]] or [here]
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
