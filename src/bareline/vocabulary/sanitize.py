"""Make texts from outside safe for pages and drawings."""

from __future__ import annotations

import hashlib
import re
from typing import Any

#: Characters that XML cannot contain, that control a terminal, or that change the text's direction.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


#: These characters, and two characters that end a line for some readers of JSON, are escaped.
_UNFIT_IN_JSON = re.compile(f"{_UNFIT.pattern[:-1]}\u2028\u2029]")


def escaped_json(text: str) -> str:
    r"""Escape control characters and lone surrogates in JSON: U+009B becomes ``\u009b``.

    The values stay the same, because such characters only occur in strings.
    """
    return _UNFIT_IN_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def cleaned(text: str) -> str:
    """Replace characters that XML cannot contain, or that control a terminal."""
    return _UNFIT.sub("\ufffd", text)


def is_clean(text: str) -> bool:
    """Whether `cleaned` would leave a text unchanged."""
    return _UNFIT.search(text) is None


#: Largest number of characters of a name or title that are shown.
LONGEST_NAME = 200


#: Number of these characters from the end of the name, where long names often differ.
_END = 49


def sanitized_name(text: str) -> str:
    """Cut the middle out of a name, title or parameter that is too long to be read."""
    if len(text) <= LONGEST_NAME:
        return text
    return f"{text[: LONGEST_NAME - _END - 1]}\u2026{text[-_END:]}"


def short_name(text: str) -> str:
    """Return a name that a run accepts; in a name that is too long, a hash replaces the middle."""
    text = cleaned(text)
    if len(text) <= LONGEST_NAME:
        return text
    marked = f"~{hashlib.sha256(text.encode()).hexdigest()[:12]}~"
    return f"{text[: LONGEST_NAME - _END - len(marked)]}{marked}{text[-_END:]}"


def cleaned_all(content: Any) -> Any:
    """Clean every text of nested lists and tables, including the names of keys."""
    if isinstance(content, str):
        return cleaned(content)
    if isinstance(content, dict):
        return {cleaned_all(key): cleaned_all(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [cleaned_all(value) for value in content]
    return content
