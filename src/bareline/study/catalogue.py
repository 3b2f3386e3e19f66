"""Find studies by name: bareline's own studies, and the studies of installed plug-ins.

An entry point of the group ``bareline.studies`` names a package whose TOML files are studies. A
file has the name of its study. The rows that ``bareline studies`` prints for bareline's own studies
were written when the package was built (`LISTING`), because reading, checking and planning all
studies takes half a second.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from bareline.vocabulary.errors import StudyError, did_you_mean
from bareline.vocabulary.files import parse_toml
from bareline.vocabulary.plugins import brought, named
from bareline.vocabulary.rows import row_of

if TYPE_CHECKING:
    from bareline.study.study import Study

#: Rows of bareline's own studies, each with an identification of its source file.
LISTING = "listing.json"
_OWN = resources.files("bareline") / "studies"


@cache
def _files() -> Mapping[str, Traversable]:
    ours = [("bareline.studies", _OWN)]
    others = ((where, resources.files(package)) for where, package in brought("bareline.studies"))
    files: list[tuple[str, Traversable]] = []
    for where, folder in chain(ours, others):
        files += ((where, file) for file in _toml(folder))
    return named("study", files, lambda file: file.name.removesuffix(".toml"))


def _toml(folder: Traversable) -> Iterator[Traversable]:
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if file.name.endswith(".toml"):
            yield file


def _read(name: str) -> Study:
    from bareline.study.study import study_from_toml

    where = f"study '{name}'"
    try:
        content = parse_toml(_files()[name].read_bytes())
    except ValueError as error:
        raise StudyError(f"the study file is not valid TOML: {error}", where=where) from error
    study = study_from_toml(content, where=where)
    if study.name != name:
        raise StudyError(
            f"the name of the file differs from the name in its [study] table: '{study.name}'",
            where=f"{name}.toml",
        )
    return study


def named_studies() -> dict[str, Study]:
    """Return the studies of the catalogue by name."""
    return {name: _read(name) for name in _files()}


def find_study(name: str) -> Study:
    """Return the study with a name in the catalogue, or in a file with this path.

    A name in the catalogue has precedence over a file or folder of that name in the current folder,
    for example a folder with runs of the study. A file without a suffix that has the name of a
    study is given as ``./name``.

    Raises StudyError: there is neither a study nor a file of this name.
    """
    if name in _files():
        return _read(name)
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        from bareline.study.reading import load_study

        return load_study(path)
    hint = did_you_mean(name, _files(), "`bareline studies` lists them")
    raise StudyError(f"no study is named '{name}'", hint=hint)


def study_names() -> list[str]:
    """Return the names of the studies in the catalogue; no study is read."""
    return list(_files())


class StudyListed(TypedDict):
    """A row of ``studies``: a built-in study."""

    study: str
    title: str
    description: str
    probes: list[str]
    platforms: list[str]
    roles: dict[str, str]
    launches: int
    cases: int
    scales: list[str]


def study_rows() -> list[StudyListed]:
    """Return the rows of the catalogue's studies for ``bareline studies``."""
    listed = json.loads((_OWN / LISTING).read_bytes())
    rows = []
    for name, file in _files().items():
        entry = listed.get(name)
        same = entry is not None and entry["crc32"] == zlib.crc32(file.read_bytes())
        row = entry["row"] if same else _row(_read(name))
        rows.append(row)
    return rows


def listing() -> dict[str, Any]:
    """Return the rows of bareline's own studies, to be stored in the package."""
    files = {file.name.removesuffix(".toml"): file for file in _toml(_OWN)}
    return {
        name: {"crc32": zlib.crc32(file.read_bytes()), "row": _row(_read(name))}
        for name, file in files.items()
    }


def _row(study: Study) -> StudyListed:
    roles = study.roles
    return row_of(
        StudyListed,
        study,
        study=study.name,
        platforms=study.platforms or [role.platform for role in roles.values() if role.platform],
        roles={name: role.title for name, role in roles.items()},
        cases=sum(1 for _ in study.cases()),
        scales=list(study.scales),
    )
