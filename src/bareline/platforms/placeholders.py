"""What stands in commands for folders, nodes and ports that only a platform knows."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bareline.vocabulary.model import Command

_PLACEHOLDER = re.compile(r"\{(native|workdir|nodes|server_host|server_port|server_data_port)\}")


def needs_folder(command: Command) -> bool:
    """Tell whether a command wants a working directory of its own."""
    return bool(command.inputs or command.outputs or mentions(command, "workdir"))


def mentions(command: Command, placeholder: str) -> bool:
    """Tell whether a command has a placeholder somewhere."""
    parts = command.argv + (command.server.argv if command.server else ())
    parts += tuple(value for _, value in command.env)
    return any(f"{{{placeholder}}}" in part for part in parts)


def expand(part: str, values: Mapping[str, str]) -> str:
    """Put values in the place of placeholders."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], ""), part)
