"""The codes of messages, such as ``BL-STUDY-247``, which remain the same when the words change.

A package stores the codes of its messages in ``messages.toml``, and ``scripts/messages.py --write``
updates this file. An error remembers the place in the source that made it. When the error is shown,
its code is looked up by the words at that place. A package of another author may have a
``messages.toml`` in its top folder, whose codes have their own prefix. Without this file the
messages of the package have no code.
"""

from __future__ import annotations

import ast
import linecache
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from bareline.vocabulary.errors import BarelineError, one_line
from bareline.vocabulary.message_sites import Site, has_words, read_sites, without_names
from bareline.vocabulary.source_place import CODES_FILE, SourcePlace, Span, raise_place
from bareline.vocabulary.validation_errors import InvalidValue, problem_of

#: The prefix of codes for invalid values in files; the kind of the problem follows it.
KEY_PREFIX = "BL-KEY-"
_OWN = "bareline"
#: Largest number of successive causes that are followed to a message with words.
_MOST_CAUSES = 8


@dataclass(frozen=True, slots=True)
class Message:
    """A message with a code.

    - `maker`: the class of the error, or the function that makes the message.
    - `text`: the words, with placeholders such as ``{path}``.
    - `hint`: the next step, with placeholders.
    - `place`: the module and function that make the message, relative to the package.
    """

    code: str
    maker: str
    text: str
    hint: str
    place: str

    @property
    def key(self) -> str:
        """The message without the names of its placeholders."""
        return message_key(self.text, self.place)


def message_key(text: str, place: str) -> str:
    """Return the key of a message in its package: messages with equal words have the same key.

    A message without words has its place as key.
    """
    words = without_names(text)
    return words if has_words(text) else f"{place}: {words}"


def code_of(error: BaseException, causes: int = _MOST_CAUSES) -> str | None:
    """Return the code of an error; None if it has no code.

    An error that repeats the words of its cause has the code of the cause, which names the problem.
    But if the code of the cause is general (``BL-KEY-...``, for an invalid value in any file), an
    error with words keeps its own code.

    - `causes`: the largest number of successive causes that are followed.
    """
    if hasattr(error, "errors"):
        return _code_of_problem(problem_of(error), causes)  # type: ignore[arg-type]
    message = _message_of(error)
    passed_on = _code_of_cause(error, causes - 1) if causes else None
    if message is None or passed_on is None:
        return passed_on if message is None else message.code
    is_general = passed_on.startswith(KEY_PREFIX) and has_words(message.text)
    return message.code if is_general else passed_on


def code_at(place: SourcePlace | None) -> str | None:
    """Return the code of the message that is made at a place."""
    message = None if place is None else _message_at(place)
    return None if message is None else message.code


def _message_of(error: BaseException) -> Message | None:
    """Return the message of an error; of several messages, prefer a message with words."""
    places = (raise_place(error), getattr(error, "made_at", None))
    candidates = [_message_at(place) for place in places if place is not None]
    messages = [message for message in candidates if message is not None]
    worded = [message for message in messages if has_words(message.text)]
    return next(iter(worded or messages), None)


def _code_of_cause(error: BaseException, causes: int) -> str | None:
    """Return the code of the cause of an error, if the error repeats the words of the cause."""
    cause = error.__cause__
    if cause is None:
        return None
    if hasattr(cause, "errors"):
        return _code_of_key(error, cause, causes)
    texts = (_words_of(cause), one_line(str(cause)))
    passed_on = any(text and text in _words_of(error) for text in texts)
    return code_of(cause, causes) if passed_on else None


def _words_of(error: BaseException) -> str:
    """Return the words of an error's problem, without place and next step."""
    words = error.what if isinstance(error, BarelineError) else str(error)
    return one_line(words)


def _code_of_key(error: BaseException, invalid: BaseException, causes: int) -> str | None:
    """Return the code of the first problem in a checked file."""
    problem = problem_of(invalid)  # type: ignore[arg-type]
    if one_line(problem.clause) not in _words_of(error):
        return None
    return _code_of_problem(problem, causes)


def _code_of_problem(problem: InvalidValue, causes: int) -> str | None:
    """Return the code of an invalid value: the code of bareline's check that refused the value.

    If pydantic refused the value, the code is made from the kind of the problem.
    """
    if problem.error is not None:
        return code_of(problem.error, causes)
    return KEY_PREFIX + problem.kind.upper().replace("_", "-")


def _message_at(place: SourcePlace) -> Message | None:
    package = package_of(place.module)
    messages = _messages(package)
    if not messages:
        return None
    site = _sites(place.file, _classes()).get(place.span)
    if site is None:
        return None
    name = place_name(place.module, package, site.function)
    return messages.get(message_key(site.text, name))


def package_of(module: str) -> str:
    """Return the package whose file contains the codes of a module."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == _OWN else parts[0]


def place_name(module: str, package: str, function: str) -> str:
    """Return the name of a function of a module, relative to the package."""
    inside = module.removeprefix(package).removeprefix(".")
    return ".".join(part for part in (inside, function) if part)


@cache
def _messages(package: str) -> Mapping[str, Message]:
    """Read the messages of a package by their keys; empty if the package has no codes."""
    for folder in getattr(sys.modules.get(package), "__path__", ()):
        file = Path(folder) / CODES_FILE
        if file.is_file():
            return {message.key: message for message in read_messages(file)}
    return {}


def read_messages(file: Path) -> Iterator[Message]:
    """Yield the messages of a file of codes, without the retired codes."""
    for code, row in tomllib.loads(file.read_text(encoding="utf-8")).items():
        if isinstance(row, dict):
            yield Message(code, row["by"], row["text"], row.get("next", ""), row["place"])


def _sites(file: str, classes: frozenset[str]) -> Mapping[Span, Site]:
    """Return the sites (places that make a message) of a source file, by their positions.

    The result is empty if the file cannot be read now; it may be readable for the next error.
    """
    lines = linecache.getlines(file)
    return _sites_of("".join(lines), classes)


@lru_cache(maxsize=64)
def _sites_of(source: str, classes: frozenset[str]) -> Mapping[Span, Site]:
    """Return the sites of a source text, by their positions."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # the file changed since it was imported
        return {}
    sites: dict[Span, Site] = {}
    for site in read_sites(tree, classes):
        sites.update(dict.fromkeys(site.spans, site))
    return sites


def _classes() -> frozenset[str]:
    """Return the names of all error classes that are loaded."""
    names: set[str] = set()
    waiting: list[type[BarelineError]] = [BarelineError]
    while waiting:
        error_class = waiting.pop()
        names.add(error_class.__name__)
        waiting += error_class.__subclasses__()
    return frozenset(names)
