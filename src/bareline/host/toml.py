"""TOML files of unknown origin: read within bounds, refused in one line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bareline.host.regular import NotRegular, read_bounded

#: No file that people write is larger.
_LARGEST_BYTES = 16 << 20


def read_toml(
    path: Path, parse_float: Callable[[str], Any] = float, *, within: Path | None = None
) -> dict[str, Any]:
    """Read a TOML file.

    Parameters
    ----------
    within
        A folder above it, below which no symbolic link is followed.

    Raises
    ------
    OSError
        It cannot be read.
    ValueError
        It is no regular file, too large, or not TOML.
    """
    return parse_toml(_bytes(path, within), parse_float)


def _bytes(path: Path, within: Path | None) -> bytes:
    try:
        return read_bounded(path, _LARGEST_BYTES, within=within)
    except (NotRegular, IsADirectoryError) as error:
        what = error.strerror if isinstance(error, NotRegular) else "not a regular file"
        raise ValueError(what) from error


def parse_toml(data: bytes | str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Read TOML.

    Raises
    ------
    ValueError
        It is none; the message says where.
    """
    text = data if isinstance(data, str) else data.decode("utf-8")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # a number of thousands of digits
        raise ValueError(str(error).partition(";")[0]) from error
