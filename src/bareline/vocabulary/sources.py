"""Sources of installed programs: ``spack:SPEC``, ``easybuild:MODULE`` or ``eessi:MODULE``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from bareline.vocabulary.units import format_duration

_MODULE = r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)+"

#: Functions for sh and bash. `find_modules` makes the command `module` available, which not every
#: shell has. `load_module` loads the module $1. Old versions exit with 0 even after an error, so
#: the list of loaded modules is searched for an entry that begins with $2.
LOAD_MODULE = """\
find_modules() {
    for file in /etc/profile.d/lmod.sh /etc/profile.d/modules.sh /usr/share/modules/init/sh; do
        command -v module >/dev/null 2>&1 || { [ -r "$file" ] && . "$file"; }
    done
    command -v module >/dev/null 2>&1
}
load_module() {
    module load "$1" </dev/null || return 1
    case :$LOADEDMODULES: in *:"$2"*) ;; *) return 1 ;; esac
}
"""


#: The pattern of the name of a program in each package manager, and an example. No shell reads the
#: name. An invalid name is refused before nodes are reserved.
_KINDS: Mapping[str, tuple[str, str]] = {
    "spack": (
        r"(?:[a-z0-9_]|/[a-z0-9])[A-Za-z0-9_.,:@+~%^=/\"'*\[\] -]*",
        "spack:lammps@2024 +mpi",
    ),
    "easybuild": (_MODULE, "easybuild:HPCC/1.5.0-foss-2023a"),
    "eessi": (rf"{_MODULE}(@\d{{4}}\.\d\d)?", "eessi:GROMACS/2024.1-foss-2023b"),
}


class Source(BaseModel):
    """One source of a program, given as a text or as a table.

    - `name`: the package manager and its name of the program, e.g. ``spack:hpcc``.
    - `install_s`: the time limit for installing a missing program; 0 means never install.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    name: Annotated[str, Field(max_length=200)]
    install_s: Annotated[float, Field(ge=0, le=86_400)] = 0.0

    @model_validator(mode="before")
    @classmethod
    def _of_text(cls, given: Any) -> Any:
        return {"name": given} if isinstance(given, str) else given

    @field_validator("name")
    @classmethod
    def _said_rightly(cls, text: str) -> str:
        kind, _, name = text.partition(":")
        if kind not in _KINDS:
            raise ValueError(
                f"'{text[:60]}' is not a valid source; it must begin with one of"
                f" {', '.join(_KINDS)}, and a colon"
            )
        pattern, example = _KINDS[kind]
        wrong = not re.fullmatch(pattern, name)
        try:
            wrong = wrong or any(word.startswith("-") for word in shlex.split(name))
        except ValueError:
            wrong = True
        if wrong:
            note = "; a variant that is off is ~NAME" if kind == "spack" else ""
            raise ValueError(f"'{text[:60]}' is not a valid source; write it like {example}{note}")
        return text

    @model_validator(mode="after")
    def _can_be_installed(self) -> Source:
        if self.install_s and self.kind == "eessi":
            raise ValueError(
                "nothing can be installed into EESSI, which is read-only; leave out install_s"
            )
        return self

    def __str__(self) -> str:
        if not self.install_s:
            return self.name
        most = format_duration(self.install_s)
        return f"{self.name}, and installs it in at most {most} where it is missing"

    @property
    def kind(self) -> str:
        """The word before the colon in the name."""
        return self.name.partition(":")[0]

    @property
    def words(self) -> list[str]:
        """The part after the colon in the name, as words of a command line."""
        return shlex.split(self.name.partition(":")[2])
