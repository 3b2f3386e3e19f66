"""Read structured files from unknown authors (JSON, YAML, TOML, lines) within bounds.

This module opens no file. A document that exceeds its bounds (deep nesting, aliases that multiply,
numbers of thousands of digits) is refused before its values are created. Control characters of a
terminal and lone surrogates are replaced. Each error names the line or the key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bareline.vocabulary.sanitize import cleaned, cleaned_all, is_clean

if TYPE_CHECKING:
    from yaml.nodes import MappingNode, Node, ScalarNode


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """The bounds of a document.

    - `size_bytes`: the size of the file.
    - `depth`: the depth of lists and tables in each other.
    - `values`: the number of keys, texts, numbers, lists and tables. An alias counts with
      everything that it refers to, so that merge keys count in their expanded form.
    - `text_chars`: the length of one text, key or line.
    - `digits`: the number of digits of one number.
    - `aliases`: the number of aliases in YAML.
    """

    size_bytes: int = 16 << 20
    depth: int = 64
    values: int = 500_000
    text_chars: int = 1 << 20
    digits: int = 100
    aliases: int = 1000


#: Limits for descriptions that people or tools write: sites, inventories, images.
DESCRIPTION = DocumentLimits()
#: Limits for outputs of programs and for periods, which are lists of numbers.
OUTPUT = DocumentLimits(size_bytes=64 << 20, values=8_000_000)
#: Limits for a file in YAML, whose parser takes the most time for each byte.
YAML = DocumentLimits(size_bytes=4 << 20, values=200_000)
#: Largest number of parts of a key in TOML; the time of `tomllib` grows with its square.
_LONGEST_TOML_KEY = 100


class DocumentError(ValueError):
    """The error of a document that cannot be read; `str` gives the reason, with the line or key."""


# JSON ---------------------------------------------------------------------------------------------

#: Texts (the last may have no end), and the brackets of lists and tables.
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


def parse_json(data: bytes | str, bounds: DocumentLimits = DESCRIPTION) -> Any:
    """Return the value of a JSON document.

    Raises
    ------
    DocumentError
        The document is damaged, exceeds its bounds, or has a key twice with different values.
    """
    text = _text_of(data, bounds)
    _check_structure(text, bounds)
    try:
        value = json_decoder(bounds, text).decode(text)
    except json.JSONDecodeError as error:
        raise DocumentError(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise DocumentError("lists and tables are nested too deeply") from error
    # An escape may hide a character that the text itself does not show.
    return value if "\\" not in text and is_clean(text) else cleaned_all(value)


Pairs = Callable[[list[tuple[str, Any]]], dict[str, Any]]


def json_decoder(
    bounds: DocumentLimits, text: str = "", *, pairs: Pairs | None = None
) -> json.JSONDecoder:
    """Return a decoder that raises a DocumentError for long numbers and keys with two values.

    - `text`: the document, from which an error about a long number gets its line.
    - `pairs`: creates an object from its keys and values; necessary if a key may have two values.
    """

    def whole(digits: str) -> int:
        _check_digits(digits, text, bounds)
        return int(digits)

    def decimal(digits: str) -> float:
        _check_digits(digits, text, bounds)
        return float(digits)

    return json.JSONDecoder(
        object_pairs_hook=pairs or _unique, parse_int=whole, parse_float=decimal
    )


def _check_digits(digits: str, text: str, bounds: DocumentLimits) -> None:
    if len(digits) > bounds.digits:
        place = f"line {_line_of(text, text.find(digits))}: " if text else ""
        raise DocumentError(f"{place}a number has more than {bounds.digits} digits")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table and table[key] != value:
            raise DocumentError(f"key '{cleaned(key)[:60]}' appears twice with different values")
        table[key] = value
    return table


def _check_structure(text: str, bounds: DocumentLimits) -> None:
    """Refuse JSON that is too deep or has too many values, without creating the values."""
    values = text.count(",") + text.count("[") + text.count("{")
    depth = 0
    for token in _TOKENS.finditer(text):
        word = token[0]
        if word in "[{":
            depth += 1
            if depth > bounds.depth:
                line = _line_of(text, token.start())
                raise DocumentError(f"line {line}: nested more than {bounds.depth} levels deep")
        elif word in "]}":
            depth -= 1
        else:
            if len(word) - 2 > bounds.text_chars:
                line = _line_of(text, token.start())
                raise DocumentError(f"line {line}: a text exceeds {bounds.text_chars:,} characters")
            values -= word.count(",") + word.count("[") + word.count("{")
    if values > bounds.values:
        raise DocumentError(f"the document has more than {bounds.values:,} values")


# YAML ---------------------------------------------------------------------------------------------

_TAG = "tag:yaml.org,2002:"
_MERGE = f"{_TAG}merge"
_TEXT = f"{_TAG}str"
_NUMBERS = (f"{_TAG}int", f"{_TAG}float")
#: Kinds of values that become values of JSON.
_PLAIN = (_TEXT, *_NUMBERS, *(f"{_TAG}{kind}" for kind in ("bool", "null", "seq", "map")))
#: Kinds of values that YAML 1.1 finds in plain words; here these words remain texts.
_WORDS = (f"{_TAG}timestamp", f"{_TAG}value")


def parse_yaml(data: bytes | str, bounds: DocumentLimits = YAML) -> Any:
    """Return the value of a YAML document, with the types that JSON has; keys are texts.

    Times of day and dates remain texts.

    Raises
    ------
    DocumentError
        The document is damaged, exceeds its bounds, or has an unknown tag or an endless alias.
    ImportError
        PyYAML is not installed.
    """
    import yaml

    text = _text_of(data, bounds)
    # The reader in C, where PyYAML was built with it, takes a twentieth of the time.
    loader_type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _EventCount(bounds).check(yaml.parse(text, Loader=loader_type))
        loader = loader_type(text)
        try:
            root = loader.get_single_node()
            if root is None:
                return None
            _check_node(root, bounds, set())
            value = loader.construct_document(root)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        raise DocumentError(_yaml_reason(error)) from error
    except yaml.YAMLError as error:
        raise DocumentError(cleaned(" ".join(str(error).split())[:200])) from error
    except DocumentError:
        raise
    except (ValueError, ArithmeticError, RecursionError) as error:
        raise DocumentError(f"a value cannot be read: {cleaned(str(error))[:200]}") from error
    return cleaned_all(value)


@dataclass(slots=True)
class _Open:
    """A list or table whose end has not been read; `values` counts it and the values inside it."""

    anchor: str | None
    values: int = 1


@dataclass(slots=True)
class _EventCount:
    """Counts the values of a YAML document from events of the parser, which creates no values."""

    bounds: DocumentLimits
    aliases: int = 0
    #: The number of values that an alias of each anchor repeats; no alias has the name None.
    values_of: dict[str | None, int] = field(default_factory=dict)
    open_nodes: list[_Open] = field(default_factory=lambda: [_Open(None)])

    def check(self, events: Iterator[Any]) -> None:
        """Raise DocumentError at the first event that exceeds the bounds."""
        import yaml

        for event in events:
            if isinstance(event, yaml.AliasEvent):
                self._alias(event)
            elif isinstance(event, yaml.ScalarEvent):
                self._scalar(event)
            elif isinstance(event, yaml.CollectionStartEvent):
                self._begin(event)
            elif isinstance(event, yaml.CollectionEndEvent):
                self._end(event)

    def _alias(self, event: Any) -> None:
        self.aliases += 1
        if self.aliases > self.bounds.aliases:
            raise _refused(event, f"the document has more than {self.bounds.aliases} aliases")
        if any(node.anchor == event.anchor for node in self.open_nodes):
            raise _refused(event, f"the alias '*{event.anchor[:60]}' contains itself")
        self._add(self.values_of.get(event.anchor, 1), event)

    def _scalar(self, event: Any) -> None:
        if len(event.value) > self.bounds.text_chars:
            raise _refused(event, f"a text has more than {self.bounds.text_chars:,} characters")
        self.values_of[event.anchor] = 1
        self._add(1, event)

    def _begin(self, event: Any) -> None:
        self.open_nodes.append(_Open(event.anchor))
        if len(self.open_nodes) - 1 > self.bounds.depth:  # without the document
            raise _refused(event, f"it is nested more than {self.bounds.depth} levels deep")

    def _end(self, event: Any) -> None:
        node = self.open_nodes.pop()
        self.values_of[node.anchor] = node.values
        self._add(node.values, event)

    def _add(self, values: int, event: Any) -> None:
        self.open_nodes[-1].values += values
        if self.open_nodes[-1].values > self.bounds.values:
            raise _refused(event, f"it has more than {self.bounds.values:,} values with aliases")


def _check_node(node: Node, bounds: DocumentLimits, seen: set[int]) -> None:
    """Refuse values that take long to create or that JSON lacks, and turn keys into texts."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if node.tag in _WORDS:
        node.tag = _TEXT
    if node.tag not in _PLAIN:
        raise _refused(node, f"the tag '{cleaned(node.tag)[:60]}' is not supported")
    if node.id == "scalar":
        _check_number(node, bounds)
    elif node.id == "sequence":
        for item in node.value:
            _check_node(item, bounds, seen)
    else:
        for key, value in node.value:
            _check_key(node, key)
            _check_node(value, bounds, seen)


def _check_key(table: MappingNode, key: Node) -> None:
    if key.id != "scalar":
        raise _refused(key, "a list or a table is used as a key; a key must be a number or a text")
    if key.tag != _MERGE:
        key.tag = _TEXT
    elif table.tag != f"{_TAG}map":
        raise _refused(key, "the merge key '<<' is allowed only in a table")


def _check_number(node: ScalarNode, bounds: DocumentLimits) -> None:
    if node.tag not in _NUMBERS:
        return
    if ":" in node.value:  # YAML 1.1 reads 1:30 as 90
        node.tag = _TEXT
    elif len(node.value) > bounds.digits:
        raise _refused(node, f"a number has more than {bounds.digits} digits")


def _refused(place: Any, reason: str) -> DocumentError:
    mark = place.start_mark
    return DocumentError(f"line {mark.line + 1}, column {mark.column + 1}: {reason}")


def _yaml_reason(error: Any) -> str:
    mark = error.problem_mark or error.context_mark
    reason = cleaned(" ".join(str(error.problem or error.context or "damaged").split()))[:200]
    return f"line {mark.line + 1}, column {mark.column + 1}: {reason}" if mark else reason


# TOML and lines -----------------------------------------------------------------------------------

#: Many parts of one key, each a word or in quotes.
_LONG_KEY = re.compile(
    r"""(?<![\w"'.-])(?:[\w"'-]++[ \t]*+\.[ \t]*+)"""
    f"{{{_LONGEST_TOML_KEY}}}"
)


def check_toml_keys(text: str) -> None:
    """Refuse a key with so many parts that `tomllib` would take hours; raises DocumentError."""
    match = _LONG_KEY.search(text)
    if match is not None:
        line = _line_of(text, match.start())
        raise DocumentError(f"line {line}: a key has more than {_LONGEST_TOML_KEY} parts")


def parse_lines(data: bytes, bounds: DocumentLimits = DESCRIPTION) -> list[str]:
    """Return the lines of a text, without the control characters of a terminal.

    Raises
    ------
    DocumentError
        The text is not UTF-8, is too large, or has too many or too long lines.
    """
    lines = cleaned(_text_of(data, bounds)).splitlines()
    if len(lines) > bounds.values:
        raise DocumentError(f"the document has more than {bounds.values:,} lines")
    for number, line in enumerate(lines, 1):
        if len(line) > bounds.text_chars:
            raise DocumentError(f"line {number} has more than {bounds.text_chars:,} characters")
    return lines


# Values -------------------------------------------------------------------------------------------


def table_at(value: object, key: str) -> Mapping[str, Any]:
    """Return `value`, or an empty table for None; raise DocumentError if it is not a table."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise DocumentError(f"'{_short(key)}': {_kind_of(value)} is not a table")
    return value


def list_at(value: object, key: str) -> list[Any]:
    """Return `value`; raise DocumentError, with the name of its key, if it is not a list."""
    if not isinstance(value, list):
        raise DocumentError(f"'{_short(key)}': {_kind_of(value)} is not a list")
    return value


def text_at(value: object, key: str) -> str:
    """Return `value`; raise DocumentError, with the name of its key, if it is not a text."""
    if not isinstance(value, str):
        raise DocumentError(f"'{_short(key)}': {_kind_of(value)} is not a text")
    return value


def _short(key: str) -> str:
    return key if len(key) <= 120 else f"{key[:60]}...{key[-40:]}"


_KINDS: Mapping[type, Callable[[Any], str]] = {
    type(None): lambda _: "nothing",
    bool: lambda value: str(value).lower(),
    int: lambda value: f"the number {value}",
    float: lambda value: f"the number {value:g}",
    str: lambda value: f"the text '{value[:40]}'",
    list: lambda _: "a list",
    dict: lambda _: "a table",
}


def _kind_of(value: object) -> str:
    describe = _KINDS.get(type(value))
    return describe(value) if describe else type(value).__name__


def _text_of(data: bytes | str, bounds: DocumentLimits) -> str:
    if len(data) > bounds.size_bytes:
        raise DocumentError(f"the document is larger than {bounds.size_bytes / (1 << 20):.3g} MiB")
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DocumentError(f"line {line}: a character is not valid UTF-8") from error


def _line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, max(offset, 0)) + 1
