"""Conditions on named values in a study: ``abs(energy + 15.85) < 1e-3``."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
#: Limit for nested parts: each level needs a frame of Python's stack.
_DEEPEST = 100
#: Functions of a list of numbers; the list of ``abs`` has one number.
_FUNCTIONS: Mapping[str, Callable[[list[float]], float]] = {
    "abs": lambda values: abs(values[0]),
    "min": min,
    "max": max,
}


class Condition:
    """A condition that consists of numbers, names, operators and functions.

    The operators are + - * /, comparisons, ``and`` and ``or``; the functions are abs, min and max.

    Raises ValueError: the text is not such a condition.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        try:
            self._tree = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise ValueError(
                f"'{text[:80]}' is not a condition that bareline can read; write e.g. 'residual <"
                " 1e-6'"
            ) from error
        if not isinstance(self._tree, ast.Compare | ast.BoolOp):
            raise ValueError(f"'{text[:80]}' contains no comparison; write e.g. 'residual < 1e-6'")
        self.names = frozenset(_names(self._tree, text))

    def holds(self, values: Mapping[str, float]) -> bool:
        """Return whether the condition is true for these values; it is false if a value is NaN."""
        try:
            return bool(_evaluate(self._tree, values))
        except (ZeroDivisionError, OverflowError):
            return False


def _names(tree: ast.AST, text: str, depth: int = 0) -> set[str]:
    if depth > _DEEPEST:
        raise ValueError(f"'{text[:80]}' is nested more than {_DEEPEST} levels deep")
    match tree:
        case ast.Name(id=name):
            return {name}
        case ast.Constant(value=value):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"'{text[:80]}' contains a constant that is not a number")
            return set()
        case ast.Call(func=ast.Name(id=name), args=parts, keywords=[]) if name in _FUNCTIONS:
            if not parts:
                raise ValueError(f"'{text[:80]}' uses the function {name} without a value")
            if name == "abs" and len(parts) > 1:
                raise ValueError(
                    f"'{text[:80]}' calls abs with {len(parts)} values, but abs takes one"
                )
        case ast.BinOp(left=left, op=how, right=right) if type(how) in _OPERATORS:
            parts = [left, right]
        case ast.UnaryOp(op=how, operand=operand) if type(how) in _OPERATORS:
            parts = [operand]
        case ast.Compare(left=left, ops=kinds, comparators=others) if all(
            type(kind) in _OPERATORS for kind in kinds
        ):
            parts = [left, *others]
        case ast.BoolOp(values=parts):
            pass
        case _:
            raise ValueError(
                f"'{text[:80]}' contains elements that a condition may not have; it may have"
                " numbers, names, comparisons, arithmetic, and, or, not, and the functions"
                f" {', '.join(_FUNCTIONS)}"
            )
    return set().union(*(_names(part, text, depth + 1) for part in parts))


def _evaluate(tree: ast.AST, values: Mapping[str, float]) -> Any:
    match tree:
        case ast.Name(id=name):
            return values.get(name, math.nan)
        case ast.Constant(value=value):
            return float(value)  # type: ignore[arg-type]
        case ast.Call(func=ast.Name(id=name), args=parts):
            arguments = [_evaluate(part, values) for part in parts]
            # Python's min and max may ignore a NaN; here, the result is NaN.
            spoiled = any(map(math.isnan, arguments))
            return math.nan if spoiled else _FUNCTIONS[name](arguments)
        case ast.BinOp(left=left, op=how, right=right):
            return _OPERATORS[type(how)](_evaluate(left, values), _evaluate(right, values))
        case ast.UnaryOp(op=how, operand=operand):
            return _OPERATORS[type(how)](_evaluate(operand, values))
        case ast.Compare(left=left, ops=kinds, comparators=others):
            sides = [_evaluate(side, values) for side in (left, *others)]
            pairs = zip(kinds, sides, sides[1:], strict=False)
            return all(_OPERATORS[type(kind)](low, high) for kind, low, high in pairs)
        case ast.BoolOp(op=how, values=parts):
            join = all if isinstance(how, ast.And) else any
            return join(bool(_evaluate(part, values)) for part in parts)
    raise AssertionError(tree)
