"""The external programs that bareline can use, and their installation.

The table is ``programs.txt`` next to this module; the installation script reads the same file.
`install_hint` returns the next step for a missing program.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from bareline.vocabulary.errors import ToolMissing


@dataclass(frozen=True, slots=True)
class Tool:
    """A row of the table: an external program, or packages that contain no program.

    - `name`: name of the program on the path; empty for packages without a program.
    - `debian`: Debian and Ubuntu packages of the program.
    - `fedora`: packages of Fedora and similar distributions; empty if none is known.
    - `setup`: the case in which the installation script installs the program: "needed" (always),
      "optional" (depends on the script's argument), "cloud" (for ``make cloud``), or "" (never).
    - `version`: option that prints the version; empty if there is none.
    - `purpose`: the program's purpose, for people.
    - `part`: the part of bareline that needs the program, such as a platform type or the build;
      empty for a program that only a probe needs.
    """

    name: str
    debian: str
    fedora: str
    setup: str
    version: str
    purpose: str
    part: str


_TABLE = tuple(
    Tool(*("" if text.strip() == "-" else text.strip() for text in line.split("|")))
    for line in Path(__file__).with_name("programs.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)

#: Fedora's counterparts of Debian's packages, by the first row that has them.
_FEDORA = {package: tool.fedora for tool in reversed(_TABLE) for package in tool.debian.split()}

#: Every external program, by its name on the path.
TOOLS: Mapping[str, Tool] = MappingProxyType({tool.name: tool for tool in _TABLE if tool.name})


def install_hint(tool: str) -> str:
    """Return the next step to install a program: ``install it with `apt-get install fio` ``.

    The command is that of this machine's package manager. If the package manager is unknown, the
    text has the commands of Debian and Fedora.
    """
    entry = TOOLS.get(tool)
    if entry is None:
        return f"install '{tool}' and put it on the path"
    if not entry.debian:
        return f"build '{tool}', of {entry.purpose}, and put it on the path"
    return package_hint(entry.debian)


def tool_missing(
    tool: str, why: str = "", *, where: str | None = None, brought_by: str = ""
) -> ToolMissing:
    """Return the error for a program that is not installed, with the command that installs it.

    - `why`: the purpose of the program, as a clause that follows a comma.
    - `brought_by`: a program in the table, whose package also contains the missing program.
    """
    text = f"'{tool}' is not installed" + (f", {why}" if why else "")
    return ToolMissing(text, where=where, hint=install_hint(brought_by or tool))


def require(
    *tools: str,
    why: str = "",
    where: str | None = None,
    brought_by: str = "",
    path: str | None = None,
) -> str:
    """Check that programs are installed, and return the path of the last program.

    - `path`: search path; by default that of this process.

    For `why` and `brought_by`, see `tool_missing`.

    Raises ToolMissing: a program is not installed.
    """
    program = ""
    for tool in tools:
        program = shutil.which(tool, path=path) or ""
        if not program:
            raise tool_missing(tool, why, where=where, brought_by=brought_by)
    return program


def package_hint(debian: str) -> str:
    """Return the command that installs packages, which are given by their Debian names."""
    by_manager = {"apt-get": f"apt-get install {debian}"}
    names = [_FEDORA.get(package, "") for package in debian.split()]
    if names and all(names):
        by_manager["dnf"] = f"dnf install {' '.join(dict.fromkeys(' '.join(names).split()))}"
    here = next((by_manager[name] for name in by_manager if shutil.which(name)), "")
    root, sudo = os.geteuid() == 0, shutil.which("sudo")
    before = "install it with " if root or sudo else "ask your administrator to run "
    prefix = "sudo " if sudo and not root else ""
    commands = [here] if here else by_manager.values()
    return before + " or ".join(f"`{prefix}{command}`" for command in commands)


def find_browser() -> str | None:
    """Return the path of an installed Chromium; None if there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)
