"""Places in a source file that make a message, with the words of the message.

A site is a call of an error class, a call in a ``raise`` statement, or a call of a function that
prints or raises the words in its argument: ``print_error``, ``require_success`` and ``OptionRule``.
`bareline.vocabulary.message_codes` finds the site of an error that was raised;
``scripts/messages.py`` gives each site a code. Both read the same syntax tree, so that they agree
about the words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from bareline.vocabulary.source_place import Span

#: Exceptions that end a program or report a fault in it; their texts are not for users.
_WITHOUT_CODE = frozenset(
    {"Abort", "AssertionError", "Exit", "KeyError", "NotImplementedError", "OSError", "TypeError"}
)
#: Functions that print their words or raise an error with them, and the maker in the list of codes.
_PASSING_ON = {
    "print_error": "print_error",
    "require_success": "PlatformError",
    "OptionRule": "ValueError",
}
_NO_WORDS = ("where", "hint")
_PLACEHOLDER = re.compile(r"(?<!\{)\{[^{}]*\}(?!\})")
_WORD = re.compile(r"[A-Za-z]{2,}")
#: Separates the forms of a message that has several forms.
_OR = " / "
#: The function that returns a hint with a close name, or its third argument if no name is close.
_SUGGESTS = "did_you_mean"
_SUGGESTION = "did you mean '{name}'?"


@dataclass(frozen=True, slots=True)
class Site:
    """A place that makes a message.

    - `function`: the name of the function, with enclosing names, such as ``Reader.check``.
    - `maker`: the class or function that is called with the words.
    - `text`: the words, with placeholders such as ``{path}``.
    - `hint`: the next step in the same form; empty if the place has none.
    - `spans`: the positions of the call, and of the ``raise`` statement around the call.
    """

    function: str
    maker: str
    text: str
    hint: str
    spans: tuple[Span, ...]

    @property
    def line(self) -> int:
        """The line where the site begins."""
        return min(span[0] for span in self.spans)


def without_names(text: str) -> str:
    """Return the words of a message without the names in its placeholders."""
    return _PLACEHOLDER.sub("{}", text)


def has_words(text: str) -> bool:
    """Whether a message has words besides its placeholders."""
    return _WORD.search(_PLACEHOLDER.sub("", text)) is not None


def error_classes(trees: Collection[ast.Module], roots: Collection[str]) -> frozenset[str]:
    """Return the names of the root classes and of all classes in some modules that extend them."""
    bases: dict[str, set[str]] = {}
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                names = {base.id for base in node.bases if isinstance(base, ast.Name)}
                bases.setdefault(node.name, set()).update(names)
    classes = set(roots)
    grown = True
    while grown:
        derived = {name for name, above in bases.items() if above & classes}
        grown = not derived <= classes
        classes |= derived
    return frozenset(classes)


def read_sites(tree: ast.Module, classes: Collection[str]) -> tuple[Site, ...]:
    """Return the sites of a module.

    - `classes`: names of the classes of errors.
    """
    reader = _Reader(classes, _assignments(tree.body))
    reader.visit(tree)
    return tuple(reader.sites)


def span_of(node: ast.stmt | ast.expr) -> Span:
    """Return the position of a part of a module."""
    last_line = node.end_lineno or node.lineno
    last_column = node.end_col_offset or node.col_offset
    return (node.lineno, node.col_offset, last_line, last_column)


Scope = Mapping[str, Sequence[ast.expr]]


def _assignments(body: Sequence[ast.stmt]) -> dict[str, list[ast.expr]]:
    """Return for each name the expressions that the statements of one scope assign to it."""
    values: dict[str, list[ast.expr]] = {}
    for statement in body:
        for node in _in_scope(statement):
            for name, value in _bound(node):
                values.setdefault(name, []).append(value)
    return values


def _in_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the nodes below it, except the bodies of functions and classes."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
        return
    for below in ast.iter_child_nodes(node):
        yield from _in_scope(below)


def _bound(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.AnnAssign | ast.NamedExpr | ast.AugAssign) and node.value is not None:
        if isinstance(node.target, ast.Name):
            yield node.target.id, node.value
    elif isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _bound_by(target, node.value)


def _bound_by(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for part, expression in zip(target.elts, value.elts, strict=False):
            yield from _bound_by(part, expression)


class _Reader(ast.NodeVisitor):
    """The visitor that collects the sites of a module."""

    def __init__(self, classes: Collection[str], constants: Scope) -> None:
        self.sites: list[Site] = []
        self._classes = classes
        self._scopes: list[Scope] = [constants]
        self._names: list[str] = []
        self._class: ast.ClassDef | None = None

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._names.append(node.name)
        self._scopes.append(_assignments(node.body))
        self.generic_visit(node)
        self._scopes.pop()
        self._names.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        outer = self._class
        self._class = node
        self._names.append(node.name)
        self.generic_visit(node)
        self._names.pop()
        self._class = outer

    def visit_Raise(self, node: ast.Raise) -> None:
        call = node.exc
        if not isinstance(call, ast.Call):
            self.generic_visit(node)
            return
        self._read_call(call, outer=(span_of(node),), raised=True)
        for part in (*call.args, *call.keywords):
            self.visit(part)

    def visit_Call(self, node: ast.Call) -> None:
        self._read_call(node)
        self.generic_visit(node)

    def _read_call(
        self, call: ast.Call, *, outer: tuple[Span, ...] = (), raised: bool = False
    ) -> None:
        classes = self._error_classes(call)
        is_error = bool(classes)
        maker = " or ".join(classes) or _called(call)
        if self._class is not None and self._class.name in self._classes and _starts_base(call):
            maker = self._class.name
            is_error = True
        if maker in _WITHOUT_CODE or not (is_error or raised or maker in _PASSING_ON):
            return
        texts = [self._text(argument) for argument in _arguments(call)]
        worded = [text for text in texts if has_words(text)]
        if is_error:
            text = texts[0] if texts else ""
        elif worded:
            text = worded[0]
        else:
            return
        function = ".".join(self._names)
        maker = _PASSING_ON.get(maker, maker)
        spans = (*outer, span_of(call))
        self.sites.append(Site(function, maker, text, self._hint(call), spans))

    def _hint(self, call: ast.Call) -> str:
        """Return the next step in a call; empty if there is none."""
        for keyword in call.keywords:
            if keyword.arg == "hint":
                return self._text(keyword.value)
        return ""

    def _error_classes(self, call: ast.Call) -> list[str]:
        """Return the error classes that a call may use.

        If the called name is a variable, these are the classes that are assigned to it.
        """
        name = _called(call)
        if name in self._classes:
            return [name]
        values = self._values(name) if isinstance(call.func, ast.Name) else ()
        names = list(chain.from_iterable(_names_in(value) for value in values))
        return names if all(each in self._classes for each in names) else []

    def _text(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> str:
        """Write an expression as words with placeholders."""
        if isinstance(node, ast.Constant):
            return _literal(node.value)
        if isinstance(node, ast.JoinedStr):
            return "".join(self._part(part) for part in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._text(node.left, seen) + self._text(node.right, seen)
        if isinstance(node, ast.IfExp):
            return self._forms((node.body, node.orelse), node, seen)
        if isinstance(node, ast.BoolOp):
            return self._forms(node.values, node, seen)
        if isinstance(node, ast.Call) and _called(node) == _SUGGESTS and len(node.args) == 3:
            return _SUGGESTION + _OR + self._text(node.args[2], seen)
        if isinstance(node, ast.Name) and node.id not in seen:
            return self._forms(self._values(node.id), node, seen | {node.id})
        return f"{{{_name(node)}}}"

    def _part(self, part: ast.expr) -> str:
        if isinstance(part, ast.FormattedValue):
            return f"{{{_name(part.value)}}}"
        return _literal(part.value) if isinstance(part, ast.Constant) else ""

    def _forms(self, nodes: Sequence[ast.expr], whole: ast.expr, seen: frozenset[str]) -> str:
        """Join the alternative texts of a message, for example of the branches of a condition.

        Texts that are only placeholders are left out. If no text is left, return one placeholder.
        """
        forms = dict.fromkeys(self._text(node, seen) for node in nodes)
        worded = [form for form in forms if has_words(form)]
        return _OR.join(worded) or f"{{{_name(whole)}}}"

    def _values(self, name: str) -> Sequence[ast.expr]:
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return ()


def _names_in(value: ast.expr) -> list[str]:
    """Return the names in an expression: ``x`` itself, or both branches of a condition."""
    if isinstance(value, ast.IfExp):
        return [*_names_in(value.body), *_names_in(value.orelse)]
    return [value.id] if isinstance(value, ast.Name) else [""]


def _literal(value: object) -> str:
    if not isinstance(value, str):
        return ""
    text = value.replace("{", "{{").replace("}", "}}")
    return re.sub(r"\s*\n\s*", " ", text)


def _name(node: ast.expr) -> str:
    """Return the placeholder's name for an expression in a message."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    if isinstance(node, ast.Call):
        if len(node.args) == 1:
            return _name(node.args[0])
        return _name(node.func)
    return "value"


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _starts_base(call: ast.Call) -> bool:
    """Whether a call is ``super().__init__(...)``."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "__init__":
        return False
    owner = call.func.value
    return isinstance(owner, ast.Call) and _called(owner) == "super"


def _arguments(call: ast.Call) -> list[ast.expr]:
    named = [keyword.value for keyword in call.keywords if keyword.arg not in _NO_WORDS]
    return [*call.args, *named]
