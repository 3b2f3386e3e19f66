"""Output on streams that cannot print every character.

Similar characters are printed, so that no error occurs.
"""

from __future__ import annotations

import codecs
import io
import sys
from typing import TextIO

#: Name of the error handler of streams.
_HANDLER = "bareline.similar"
#: The replacements of characters. Most are as wide as the character, so that columns stay aligned.
_SIMILAR = {
    **dict.fromkeys("–—‒−‐‑─━╌", "-"),
    **dict.fromkeys("│┃║", "|"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╰╯", "+"),
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("‘’‚′", "'"),
    **dict.fromkeys("µμ", "u"),
    **dict.fromkeys("·•●", "*"),
    **dict.fromkeys("×✕", "x"),
    **dict.fromkeys("█▉▊▋▌▍▎▏", "#"),
    **dict.fromkeys("░", "."),
    **dict.fromkeys("▒", ":"),
    **dict.fromkeys("▓", "%"),
    **dict(zip("▁▂▃▄▅▆▇", "_.-~=+*", strict=True)),
    "…": "...",
    "→": "->",
    "←": "<-",
    "≥": ">=",
    "≤": "<=",
    "≈": "~",
    "±": "+-",
    "✓": "+",
    "✗": "x",
    "²": "2",
    "³": "3",
    "¹": "1",
    "°": "deg",
    "ß": "ss",
}


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    similar = "".join(_SIMILAR.get(sign, " " if sign.isspace() else "?") for sign in text)
    return similar, error.end


def allow_any_text() -> None:
    """Make stdout and stderr print similar characters for characters that they cannot encode."""
    codecs.register_error(_HANDLER, _replace)
    streams: tuple[TextIO, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper) and not _is_unicode(stream.encoding):
            stream.reconfigure(errors=_HANDLER)


def _is_unicode(encoding: str) -> bool:
    try:
        return codecs.lookup(encoding).name.startswith("utf")
    except LookupError:
        return False
