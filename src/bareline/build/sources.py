"""The source tree of the native programs: its folder, its files, and a copy for the build."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from bareline.vocabulary.errors import BuildError
from bareline.vocabulary.files import replace_file


def source_folder() -> Path:
    """Return the folder of the top CMakeLists.txt, in the wheel or in the source checkout.

    Raises BuildError: this installation has no sources.
    """
    here = Path(__file__).resolve().parents[1]
    for folder in (here / "_native", here.parent.parent):
        if (folder / "native" / "CMakeLists.txt").is_file():
            return folder
    raise BuildError(
        "the sources of the native programs are missing",
        where=str(here),
        hint="install bareline again from its wheel",
    )


#: Files that a build reads; files of editors, Python and tests do not affect programs.
_SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".f90", ".F90", ".def", ".cmake"}


def source_files(source: Path) -> Iterator[Path]:
    """Yield the files that a build reads, as paths below the source folder."""
    yield Path("CMakeLists.txt")
    for path in sorted((source / "native").rglob("*")):
        below = path.relative_to(source)
        is_source = path.suffix in _SUFFIXES or path.name == "CMakeLists.txt"
        if is_source and "tests" not in below.parts and path.is_file():
            yield below


def mirror(source: Path, copy: Path) -> None:
    """Make a folder an exact copy of the sources.

    Files in the copy that have not changed keep their modification times, so that Ninja does not
    compile them again.
    """
    wanted = set(source_files(source))
    for path in [path for path in copy.rglob("*") if path.is_file()]:
        if path.relative_to(copy) not in wanted:
            path.unlink()
    for name in wanted:
        content = (source / name).read_bytes()
        place = copy / name
        if not place.is_file() or place.read_bytes() != content:
            place.parent.mkdir(parents=True, exist_ok=True)
            replace_file(place, content, durable=False)


def sources_key(source: Path) -> str:
    """Return a hash of all files that a build reads."""
    digest = hashlib.sha256()
    for name in source_files(source):
        digest.update(f"\0{name}\0".encode())
        digest.update((source / name).read_bytes())
    return digest.hexdigest()[:12]
