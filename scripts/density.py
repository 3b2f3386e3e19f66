#!/usr/bin/env python3
"""Print how dense the code is, package by package, and fail where it becomes denser.

    scripts/density.py [SOURCE]
    scripts/density.py --lower
    scripts/density.py --list COUNT [SOURCE]

A package is a folder directly below SOURCE, ``src/bareline`` of this checkout by default. Without
SOURCE, the totals are compared with their limits in ``scripts/limits.toml``; ``--lower`` writes
lower limits there. ``--list`` prints the places of one count, as ``FILE:LINE``.

- *expr/line*: the nodes of the syntax tree that are expressions (``ast.expr``) and not constants,
  divided by the lines of code. A line of code has a part of a statement that is not a docstring.
- *complex*: functions and methods whose cognitive complexity is above 15, as complexipy counts it.
- *tuples*: assignments of the form ``a, b = x, y``. An exchange, ``a, b = b, a``, is not counted.
- *inner if*: conditional expressions inside another expression.
- *double for*: comprehensions with two ``for``, or with another comprehension inside.
- *names*: variables and parameters whose name has no meaning, such as ``found`` or ``one``.

For comparison: ReFrame, asv and pytest have 2.7 expressions per line, and per 1,000 lines of code
0.2 to 0.6 such assignments, 0.2 to 0.7 such comprehensions and 0.8 such names.
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import complexipy
from docstrings import docstrings
from limits import exceeded, lowered, read_limits, write_limits

HIGHEST_COMPLEXITY = 15
#: Names that do not say what a variable contains.
MEANINGLESS = frozenset(
    {"found", "own", "known", "said", "every", "what", "done"}
    | {"asked", "shown", "at", "of", "how", "one"}
)
#: Each count with the amount that it may rise again before it fails, so that parallel branches can
#: be merged.
SLACK = {
    "expr/line": 0.02,
    "complex": 3,
    "tuples": 10,
    "inner if": 10,
    "double for": 5,
    "names": 10,
}
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
#: Tokens that also occur on lines without code.
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


@dataclass(frozen=True, slots=True)
class Density:
    """The counts of a module, or of several together."""

    lines: int = 0
    expressions: int = 0
    complex_functions: int = 0
    tuple_assignments: int = 0
    inner_conditionals: int = 0
    double_comprehensions: int = 0
    meaningless_names: int = 0

    def __add__(self, other: Density) -> Density:
        """Return the counts of both."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Density(*(mine + yours for mine, yours in pairs))

    @property
    def expressions_per_line(self) -> float:
        """Return the mean number of expressions in a line of code; 0 where there is no code."""
        return self.expressions / self.lines if self.lines else 0.0

    def counts(self) -> dict[str, float]:
        """Return the counts that have limits, by the name of their column."""
        return {
            "expr/line": round(self.expressions_per_line, 2),
            "complex": self.complex_functions,
            "tuples": self.tuple_assignments,
            "inner if": self.inner_conditionals,
            "double for": self.double_comprehensions,
            "names": self.meaningless_names,
        }


def density_of(source: str) -> Density:
    """Return the counts of a module's source text."""
    tree = ast.parse(source)
    expressions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant)
    ]
    code = _lines_with_code(source)
    for docstring in docstrings(tree):
        code.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    places = [name for name, _ in _dense_places(source, tree)]
    return Density(
        lines=len(code),
        expressions=len(expressions),
        complex_functions=places.count("complex"),
        tuple_assignments=places.count("tuples"),
        inner_conditionals=places.count("inner if"),
        double_comprehensions=places.count("double for"),
        meaningless_names=places.count("names"),
    )


def dense_places(source: str) -> Iterator[tuple[str, int]]:
    """Yield the count and the line of everything that is counted one by one."""
    yield from _dense_places(source, ast.parse(source))


def _dense_places(source: str, tree: ast.Module) -> Iterator[tuple[str, int]]:
    for function in complexipy.code_complexity(source).functions:
        if function.complexity > HIGHEST_COMPLEXITY:
            yield "complex", function.line_start
    inner = set(_inside_expressions(tree))
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Assign) and _assigns_unrelated(node):
            yield "tuples", line
        if isinstance(node, ast.IfExp) and node in inner:
            yield "inner if", line
        if isinstance(node, _COMPREHENSIONS):
            inside = sum(isinstance(part, _COMPREHENSIONS) for part in ast.walk(node)) - 1
            if inside or len(node.generators) > 1:
                yield "double for", line
        if _bound_name(node) in MEANINGLESS:
            yield "names", line


def _inside_expressions(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield each node that is a part of an expression, not of a statement."""
    parts = (ast.expr, ast.keyword, ast.comprehension)
    for node in ast.walk(tree):
        if isinstance(node, parts):
            yield from ast.iter_child_nodes(node)


def _assigns_unrelated(assignment: ast.Assign) -> bool:
    target = assignment.targets[0]
    value = assignment.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return False
    exchange = sorted(map(ast.unparse, target.elts)) == sorted(map(ast.unparse, value.elts))
    return not exchange


def _bound_name(node: ast.AST) -> str | None:
    """Return the name that a node gives to a value, without underscores at its ends."""
    if isinstance(node, ast.arg):
        return node.arg.strip("_")
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id.strip("_")
    return None


def _lines_with_code(source: str) -> set[int]:
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines


def densities_of(package: Path) -> dict[str, Density]:
    """Return the counts of each folder directly below a package, in alphabetical order."""
    densities: dict[str, Density] = {}
    for folder in sorted(package.iterdir()):
        modules = sorted(folder.rglob("*.py")) if folder.is_dir() else []
        if modules:
            texts = [module.read_text(encoding="utf-8") for module in modules]
            densities[folder.name] = sum(map(density_of, texts), start=Density())
    return densities


def print_table(densities: dict[str, Density]) -> None:
    """Print the counts of each package, a row each."""
    print(f"{'package':<12} {'lines':>6}", *(f"{name:>10}" for name in SLACK))
    for package, density in densities.items():
        counts = density.counts()
        ratio = counts.pop("expr/line")
        cells = [f"{ratio:>10.2f}", *(f"{count:>10}" for count in counts.values())]
        print(f"{package:<12} {density.lines:>6}", *cells)


def list_places(package: Path, name: str) -> None:
    """Print the places of one count."""
    for module in sorted(package.rglob("*.py")):
        for counted, line in dense_places(module.read_text(encoding="utf-8")):
            if counted == name:
                print(f"{module}:{line}")


def check(total: Density, *, lower: bool) -> int:
    """Compare the totals with their limits, and return the exit code."""
    limits = read_limits()
    if lower:
        limits["density"] = lowered(total.counts(), limits.get("density", {}), SLACK)
        write_limits(limits)
    problems = list(exceeded(total.counts(), limits.get("density", {})))
    for problem in problems:
        print(f"density: {problem}; `scripts/density.py --list` has the places", file=sys.stderr)
    return bool(problems)


def main() -> None:
    """Print the table and check it, or list places."""
    here = Path(__file__).resolve().parents[1] / "src" / "bareline"
    parser = argparse.ArgumentParser(description="Count how dense the code is.")
    parser.add_argument("source", nargs="?", type=Path, metavar="SOURCE")
    parser.add_argument("--lower", action="store_true", help="write lower limits")
    parser.add_argument("--list", choices=list(SLACK)[1:], dest="name", metavar="COUNT")
    given = parser.parse_args()
    package = given.source or here
    if not package.is_dir():
        sys.exit(f"density: {package}: not a folder; give one such as src/bareline")
    if given.name:
        list_places(package, given.name)
        return
    densities = densities_of(package)
    total = sum(densities.values(), start=Density())
    print_table({**densities, "all": total})
    if not given.source:
        sys.exit(check(total, lower=given.lower))


if __name__ == "__main__":
    main()
