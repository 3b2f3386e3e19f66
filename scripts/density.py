#!/usr/bin/env python3
"""Print how dense the code is, package by package; nothing here can fail.

    scripts/density.py [SOURCE]

A package is a folder directly below SOURCE, ``src/bareline`` of this checkout by default.

- Expressions per line: the nodes of the syntax tree that are expressions (``ast.expr``) and not
  constants, divided by the lines of code: those that have a part of a statement that is not a
  docstring. Blank lines, comments and docstrings are not counted.
- Complex functions: functions and methods whose cognitive complexity is above 15, as complexipy
  counts it.

For comparison: ReFrame, asv and pytest have 2.7 expressions per line.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import complexipy

HIGHEST_COMPLEXITY = 15
#: Tokens that lie on lines without code, too.
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

    expressions: int
    lines: int
    complex_functions: int

    def __add__(self, other: Density) -> Density:
        """Return the counts of both."""
        return Density(
            self.expressions + other.expressions,
            self.lines + other.lines,
            self.complex_functions + other.complex_functions,
        )

    @property
    def expressions_per_line(self) -> float:
        """Return the mean number of expressions in a line of code; 0 where there is no code."""
        return self.expressions / self.lines if self.lines else 0.0


def density_of(source: str) -> Density:
    """Return the counts of a module's source text."""
    tree = ast.parse(source)
    expressions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr) and not isinstance(node, ast.Constant)
    ]
    code = _lines_with_code(source)
    for docstring in _docstrings(tree):
        code.difference_update(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    functions = complexipy.code_complexity(source).functions
    complex_functions = sum(function.complexity > HIGHEST_COMPLEXITY for function in functions)
    return Density(len(expressions), len(code), complex_functions)


def _docstrings(tree: ast.Module) -> Iterator[ast.expr]:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            statement = node.body[0]
            assert isinstance(statement, ast.Expr)
            yield statement.value


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
            densities[folder.name] = sum(map(density_of, texts), start=Density(0, 0, 0))
    return densities


def main() -> None:
    """Print the table."""
    package = Path(__file__).resolve().parents[1] / "src" / "bareline"
    if len(sys.argv) > 1:
        package = Path(sys.argv[1])
    if not package.is_dir():
        sys.exit(f"density: {package}: not a folder; give one such as src/bareline")
    densities = densities_of(package)
    total = sum(densities.values(), start=Density(0, 0, 0))
    print(f"{'package':<12} {'lines':>7} {'expressions/line':>17} {'complex functions':>18}")
    for name, density in {**densities, "all": total}.items():
        print(
            f"{name:<12} {density.lines:>7} {density.expressions_per_line:>17.2f}"
            f" {density.complex_functions:>18}"
        )


if __name__ == "__main__":
    main()
