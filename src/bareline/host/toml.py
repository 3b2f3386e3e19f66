"""TOML files of unknown origin: read within bounds, refused in one line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

#: No file that people write is larger.
_LARGEST_BYTES = 16 << 20


def read_toml(path: Path, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    OSError
        It cannot be read.
    ValueError
        It is no regular file, too large, or not TOML.
    """
    if path.exists() and not path.is_file():
        raise ValueError("not a regular file")
    if path.stat().st_size > _LARGEST_BYTES:
        raise ValueError(f"larger than {_LARGEST_BYTES >> 20} MiB")
    return parse_toml(path.read_bytes(), parse_float)


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
