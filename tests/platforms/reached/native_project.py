"""A small project in the place of the native programs, to be built on the nodes of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from bareline.platforms.reached.remote import native

_TOP = """
cmake_minimum_required(VERSION 3.18)
project(tiny LANGUAGES C)
add_subdirectory(native)
"""
_NATIVE = """
file(APPEND "{count}" "x")
find_package(MPI REQUIRED COMPONENTS C)
add_executable(hello hello.c)
target_link_libraries(hello MPI::MPI_C)
install(TARGETS hello RUNTIME DESTINATION bin)
message(STATUS "left out: hello_blas: no BLAS")
"""
_HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Init(&argc, &argv);
    MPI_Get_processor_name(name, &length);
    printf("hello from %s\\n", name);
    return MPI_Finalize();
}
"""


@dataclass
class Project:
    """A project that counts how often it is configured."""

    folder: Path
    count: Path

    @property
    def builds(self) -> int:
        return len(self.count.read_text()) if self.count.exists() else 0

    def break_it(self) -> None:
        """Let it compile no more."""
        (self.folder / "native" / "hello.c").write_text("int main(void) { return nonsense; }\n")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Have nodes build a small project."""
    folder, count = tmp_path / "source", tmp_path / "count"
    (folder / "native").mkdir(parents=True)
    (folder / "CMakeLists.txt").write_text(_TOP)
    (folder / "native" / "CMakeLists.txt").write_text(_NATIVE.replace("{count}", str(count)))
    (folder / "native" / "hello.c").write_text(_HELLO)
    monkeypatch.setattr(native, "source_folder", lambda: folder)
    return Project(folder, count)
