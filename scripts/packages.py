#!/usr/bin/env python3
"""Count the packages of bareline, their imports of each other, and what is long.

    scripts/packages.py [SOURCE ...]
    scripts/packages.py --hold [--lower]

A package is a folder or a flat module of ``src/bareline`` of this checkout, or of each given
source, side by side. An import counts once for a pair of packages, wherever it is in the file.
Levels are counted from the packages that import none; packages of a circle share one. An import
points upwards when it is part of a circle: no order of the packages can turn it down. Lines of
functions are counted without docstrings. Needs nothing but Python.

``--hold`` compares with `scripts/packages.toml`: imports between packages, files over 400 lines,
functions over 40, imports upwards between the folders of a package and class names with two
meanings may become fewer and not more, and the longest of each not longer. Names that are
participles may not rise in any package. Docstrings are at most 15 % of lines. Lines of code have
no limit: `scripts/density.py` limits how dense they are.
``--lower`` then writes the lower numbers into that file, so that they cannot rise again.
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
#: By name, e.g. ``store -> host`` or ``store/run.py``, and its length; imports have none.
Held = dict[str, dict[str, int]]

HERE = Path(__file__).resolve().parent
HELD = HERE / "packages.toml"
TABLE = HERE.parent / "CONTRIBUTING.md"
LONG_FILE, LONG_FUNCTION = 400, 40
#: Packages whose folders import each other one way.
LAYERED = ("analysis",)
#: Counts that may not rise in any package.
BY_PACKAGE = ("participles",)
#: Names of variables, parameters, functions and fields without a meaning.
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


def packages_of(imports: Graph) -> Graph:
    """Join the modules of each package."""
    parts: Graph = {}
    for name, targets in imports.items():
        part = name.partition(".")[0]
        if part:
            others = {target.partition(".")[0] for target in targets}
            parts.setdefault(part, set()).update(others - {part})
    return parts


def folders_of(imports: Graph, part: str) -> Graph:
    """Join the modules of each folder of a package."""
    inner = {
        name.removeprefix(f"{part}."): {
            target.removeprefix(f"{part}.") for target in targets if target.startswith(f"{part}.")
        }
        for name, targets in imports.items()
        if name.startswith(f"{part}.")
    }
    return {
        f"{part}/{folder}": {f"{part}/{other}" for other in others}
        for folder, others in packages_of(inner).items()
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


def levels_of(graph: Graph) -> dict[str, int]:
    """Return each node's level, from 0."""
    circles = circles_of(graph)
    member = {node: min(next((c for c in circles if node in c), {node})) for node in graph}
    below: Graph = {}
    for node, targets in graph.items():
        below.setdefault(member[node], set()).update(
            member[target] for target in targets if member[target] != member[node]
        )
    levels: dict[str, int] = {}

    def level(node: str) -> int:
        if node not in levels:
            levels[node] = 1 + max((level(other) for other in below[node]), default=-1)
        return levels[node]

    return {node: level(member[node]) for node in graph}


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
    """Count by package the definitions of a name without a meaning."""
    parts: Counter[str] = Counter()
    for module, tree in modules.items():
        for node in ast.walk(tree):
            match node:
                case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                    pass
                case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    pass
                case _:
                    continue
            parts[module.partition(".")[0]] += name.strip("_").lower() in PARTICIPLES
    return {part: count for part, count in parts.items() if count}


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
    """Name the imports that are part of a circle."""
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
    parts = packages_of(imports)
    parts.pop("__main__", None)
    circles = circles_of(parts)
    upward = sum(
        target in circle for circle in circles for part in circle for target in parts[part]
    )
    files = sorted(file_lines(package).values())
    functions = sorted(lines for tree in modules.values() for _, lines in function_lines(tree))
    return {
        "packages": str(len(parts)),
        "packages that are a single module": str(sum(_flat(package, part) for part in parts)),
        "levels": str(1 + max(levels_of(parts).values())),
        "imports": str(sum(map(len, parts.values()))),
        "imports upwards": str(upward),
        "circles of packages": str(len(circles)),
        "circles of modules": str(len(circles_of(imports))),
        "class names with two meanings": str(len(namesakes_of(modules))),
        "participles as names": str(sum(participles_of(modules).values())),
        "lines": str(sum(files)),
        "docstrings, in percent of all lines": f"{100 * docstring_share(package, modules):.0f}",
        "files": str(len(files)),
        "lines of a file, median": f"{statistics.median(files):g}",
        "lines of a file, most": str(files[-1]),
        "files over 400 lines": str(sum(lines > LONG_FILE for lines in files)),
        "functions": str(len(functions)),
        "lines of a function, median": f"{statistics.median(functions):g}",
        "lines of a function, most": str(functions[-1]),
        "functions over 40 lines": str(sum(lines > LONG_FUNCTION for lines in functions)),
    }


def _flat(package: Path, part: str) -> bool:
    return (package / f"{part}.py").is_file()


def held_of(package: Path) -> Held:
    """List the counts that may only fall."""
    modules = modules_of(package)
    imports = imports_of(package.name, modules)
    parts = packages_of(imports)
    parts.pop("__main__", None)
    long = {
        f"{name.replace('.', '/')}: {function}": lines
        for name, tree in modules.items()
        for function, lines in function_lines(tree)
        if lines > LONG_FUNCTION
    }
    return {
        "imports": {f"{part} -> {other}": 0 for part in parts for other in parts[part]},
        "folders": {
            f"{folder} -> {other}": 0
            for part in LAYERED
            for folder, others in folders_of(imports, part).items()
            for other in others
        },
        "upwards": {edge: 0 for part in parts for edge in upward_of(folders_of(imports, part))},
        "namesakes": namesakes_of(modules),
        "files": {name: lines for name, lines in file_lines(package).items() if lines > LONG_FILE},
        "functions": long,
        "participles": participles_of(modules),
    }


def risen(held: Held, found: Held) -> Iterator[str]:
    """Describe each count that has risen, with the new items."""
    for kind, before in held.items():
        now = found[kind]
        new = sorted(name for name in now if now[name] > before.get(name, -1))
        if kind in BY_PACKAGE:
            for part in new:
                yield f"{kind} of {part}: {now[part]}, not {before.get(part, 0)} any more"
            continue
        listed = "; ".join(f"{name} ({now[name]} lines)" if now[name] else name for name in new)
        if len(now) > len(before):
            yield f"{kind}: {len(now)}, not {len(before)} any more: {listed}"
        elif max(now.values(), default=0) > max(before.values(), default=0):
            yield f"{kind}: the longest has grown: {listed}"


def write_held(found: Held) -> None:
    """Write the limits, here and into the contributors' table."""
    lines = ["# Counts that may only fall; `scripts/packages.py --hold --lower` writes it."]
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
    """Compare with the limits; return the exit code."""
    held = tomllib.loads(HELD.read_text(encoding="utf-8"))
    problems = list(risen(held, found))
    for problem in problems:
        print(f"packages: {problem}", file=sys.stderr)
    if problems:
        print(
            "packages: move shared code to a place that both may import, or split long parts\n"
            "packages: (CONTRIBUTING.md, Structure); what has to grow is written into\n"
            "packages: scripts/packages.toml by hand, with its reason in the commit",
            file=sys.stderr,
        )
    elif lower and found != held:
        write_held(found)
    elif found != held:
        print("packages: scripts/packages.toml is not up to date; run it with --hold --lower")
    return bool(problems)


def main() -> None:
    """Print the table, or compare it with the limits."""
    here = HERE.parent / "src" / "bareline"
    parser = argparse.ArgumentParser(description="Count packages, imports and long files.")
    parser.add_argument("sources", nargs="*", type=Path, default=[here])
    parser.add_argument("--hold", action="store_true", help="fail where a count has risen")
    parser.add_argument("--lower", action="store_true", help="with --hold: write the lower counts")
    given = parser.parse_args()
    if given.hold:
        share = docstring_share(here, modules_of(here))
        if share > MOST_DOCSTRINGS:
            print(f"packages: docstrings: {share:.1%} of all lines, at most 15 %", file=sys.stderr)
        sys.exit(hold(held_of(here), lower=given.lower) or share > MOST_DOCSTRINGS)
    packages = [source.resolve() for source in given.sources]
    for package in packages:
        if not (package / "__init__.py").is_file():
            sys.exit(
                f"packages: {package}: not a Python package; name a folder such as src/bareline"
            )
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
