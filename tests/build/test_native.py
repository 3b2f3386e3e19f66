"""The build of the native programs, with real CMake on a project of two programs."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from bareline.build import cache as build_cache
from bareline.build import native as build
from bareline.build.native import build_native, ensure_native
from bareline.build.sources import source_folder, sources_key
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BuildError, PlatformError, ToolMissing

pytestmark = pytest.mark.skipif(
    shutil.which("cmake") is None or shutil.which("cc") is None, reason="no CMake or C compiler"
)

_TOP = """
cmake_minimum_required(VERSION 3.18)
project(tiny LANGUAGES C)
add_subdirectory(native)
"""
_NATIVE = """
file(APPEND "{count}" "x")
add_executable(hello hello.c)
install(TARGETS hello RUNTIME DESTINATION bin)
find_package(MPI COMPONENTS C)
if(MPI_C_FOUND)
    add_executable(hello_mpi hello_mpi.c)
    target_link_libraries(hello_mpi MPI::MPI_C)
    install(TARGETS hello_mpi RUNTIME DESTINATION bin)
else()
    message(STATUS "left out: hello_mpi: no MPI for C")
endif()
"""
_HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
_HELLO_MPI = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    puts("hello");
    return MPI_Finalize();
}
"""


@dataclass
class Project:
    """A small project that counts how often it is configured."""

    folder: Path
    count: Path
    cache: Path

    @property
    def builds(self):
        return len(self.count.read_text()) if self.count.exists() else 0


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "source"
    (folder / "native").mkdir(parents=True)
    count = tmp_path / "count"
    (folder / "CMakeLists.txt").write_text(_TOP)
    (folder / "native" / "CMakeLists.txt").write_text(_NATIVE.replace("{count}", str(count)))
    (folder / "native" / "hello.c").write_text(_HELLO)
    (folder / "native" / "hello_mpi.c").write_text(_HELLO_MPI)
    monkeypatch.setattr(build, "source_folder", lambda: folder)
    return Project(folder, count, tmp_path / "cache")


def _run(program):
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


def test_builds_once(project):
    first = build_native(None, project.cache)
    assert _run(first.programs / "hello") == "hello\n"
    assert not first.cached
    assert first.seconds > 0
    second = build_native(None, project.cache)
    assert second.cached
    assert (second.path, second.seconds) == (first.path, first.seconds)
    assert project.builds == 1
    assert ensure_native(None, project.cache) == first.path / "bin"


def test_force_builds_again(project):
    build_native(None, project.cache)
    again = build_native(None, project.cache, force=True)
    assert not again.cached
    assert project.builds == 2
    assert _run(again.programs / "hello") == "hello\n"


def test_row_is_json(project):
    row = json.loads(json.dumps(build_native(None, project.cache).to_dict()))
    assert row["toolchain"].endswith("no MPI")
    assert row["cached"] is False
    assert set(row) == {
        "toolchain",
        "path",
        "log",
        "left_out",
        "seconds",
        "cached",
        "host",
        "library",
        "machine",
    }


def test_a_build_that_failed_is_not_tried_again_by_the_same_run(project):
    (project.folder / "native" / "hello.c").write_text("int main(void) { return nothing; }\n")
    with pytest.raises(BuildError) as first:
        build_native(None, project.cache)
    with pytest.raises(BuildError) as second:
        build_native(None, project.cache)
    assert project.builds == 1
    assert str(first.value) == str(second.value)
    with pytest.raises(BuildError):
        build_native(None, project.cache, force=True)
    assert project.builds == 2


def test_what_lacks_mpi_is_left_out_and_said(project):
    found = build_native(None, project.cache)
    assert found.left_out == ("hello_mpi: no MPI for C",)
    assert sorted(path.name for path in found.programs.iterdir()) == ["hello"]
    assert build_native(None, project.cache).left_out == found.left_out


@pytest.mark.mpi
def test_each_mpi_library_has_its_own_build(project):
    folders = {}
    for flavour in ("openmpi", "mpich"):
        try:
            mpi = find_mpi(flavour)
        except PlatformError as error:
            pytest.skip(str(error))
        found = build_native(mpi, project.cache)
        assert found.left_out == ()
        assert mpi.title in found.toolchain
        libraries = subprocess.run(
            ["ldd", found.programs / "hello_mpi"], capture_output=True, text=True, check=True
        ).stdout
        assert {"openmpi": "libmpi.so", "mpich": "libmpich.so"}[flavour] in libraries
        folders[flavour] = found.path
    assert folders["openmpi"] != folders["mpich"]


def test_changed_sources_are_another_build(project):
    first = build_native(None, project.cache)
    source = project.folder / "native" / "hello.c"
    source.write_text(_HELLO.replace("hello", "goodbye"))
    second = build_native(None, project.cache)
    assert second.path != first.path
    assert _run(second.programs / "hello") == "goodbye\n"
    source.write_text(_HELLO)
    assert build_native(None, project.cache).path == first.path


_USER = """
import os, sys
from pathlib import Path
from bareline.build import cache as build_cache
build = Path(sys.argv[1])
assert build_cache.use(build)
os.utime(build / build_cache.RECORD, (0, 0))
print(flush=True)
sys.stdin.read()
"""


def test_a_new_build_removes_old_ones_that_nobody_uses(project):
    first = build_native(None, project.cache)
    key = first.path.name.partition("-")[0]

    def plant(name, age_h):
        copy = shutil.copytree(first.path, first.path.with_name(name))
        copy.with_suffix(".log").touch()
        for path in (copy / build_cache.RECORD, copy.with_suffix(".log")):
            os.utime(path, (time.time() - 3600 * age_h,) * 2)
        return copy

    for name, age_h in {"old": 100, "older": 200, "used": 90, "yesterday": 23}.items():
        plant(f"{key}-{name}", age_h)
    plant("01234567-other", 100)
    shutil.rmtree(plant(f"{key}-failed", 100))
    with subprocess.Popen(
        [sys.executable, "-c", _USER, str(first.path.with_name(f"{key}-used"))],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as user:  # fmt: skip
        user.stdout.readline()
        (project.folder / "native" / "hello.c").write_text(_HELLO.replace("hello", "goodbye"))
        second = build_native(None, project.cache)
        left = {path.name for path in build_cache.finished(project.cache / "native")}
        user.stdin.close()
    stay = {f"{key}-used", f"{key}-yesterday", "01234567-other"}
    assert left == {first.path.name, second.path.name} | stay
    assert {path.stem for path in project.cache.glob("native/*.log")} == left
    assert build_cache.toolchains(project.cache / "native") == {key, "01234567"}


def test_what_lies_beside_the_sources_does_not_change_the_key(project):
    """Python's cache, an editor's swap file and tests are no part of what is compiled."""
    before = sources_key(project.folder)
    native = project.folder / "native"
    for name in ("__pycache__/calls.cpython-311.pyc", ".hello.c.swp", "notes.md", "tests/check.c"):
        (native / name).parent.mkdir(exist_ok=True)
        (native / name).write_text("beside")
    assert sources_key(project.folder) == before
    (native / "hello.h").write_text("/* a source */")
    assert sources_key(project.folder) != before


def test_a_cache_that_was_moved_is_configured_again(project, tmp_path):
    build_native(None, project.cache)
    moved = project.cache.rename(tmp_path / "moved")
    (project.folder / "native" / "hello.c").write_text(_HELLO.replace("hello", "goodbye"))
    found = build_native(None, moved)
    assert _run(found.programs / "hello") == "goodbye\n"


def test_changed_sources_compile_only_what_they_touch(project):
    native = project.folder / "native"
    with (native / "CMakeLists.txt").open("a") as rules:
        rules.write("add_executable(other other.c)\ninstall(TARGETS other DESTINATION bin)\n")
    (native / "other.c").write_text("int main(void) { return 0; }\n")
    build_native(None, project.cache)
    objects = {path.name: path for path in project.cache.rglob("*.c.o")}
    before = {name: path.stat().st_mtime_ns for name, path in objects.items()}
    (native / "hello.c").write_text(_HELLO.replace("hello", "goodbye"))
    found = build_native(None, project.cache)
    changed = {name for name, path in objects.items() if path.stat().st_mtime_ns != before[name]}
    assert changed == {"hello.c.o"}
    assert sorted(path.name for path in found.programs.iterdir()) == ["hello", "other"]


def test_a_source_that_is_gone_is_not_built_any_more(project):
    build_native(None, project.cache)
    (project.folder / "native" / "hello.c").unlink()
    with raises(BuildError, "BL-BUILD-205", "hello.c"):
        build_native(None, project.cache)


def test_other_flags_are_another_build(project, monkeypatch):
    first = build_native(None, project.cache)
    monkeypatch.setenv("CFLAGS", "-O1")
    assert build_native(None, project.cache).path != first.path


def test_compile_error_is_told_with_the_log(project):
    source = project.folder / "native" / "hello.c"
    source.write_text("int main(void) { return undeclared; }\n")
    with raises(BuildError, "BL-BUILD-205") as caught:
        build_native(None, project.cache)
    log = caught.value.hint.rpartition(" ")[2]
    assert "undeclared" in Path(log).read_text()
    # No half-made build stays.
    folders = [path.suffix for path in (project.cache / "native").iterdir() if path.is_dir()]
    assert folders == [".tree"]
    source.write_text(_HELLO)
    assert _run(build_native(None, project.cache).programs / "hello") == "hello\n"


def test_configure_error_is_told(project):
    # Without a project, CMake would look for a C++ compiler first.
    text = "cmake_minimum_required(VERSION 3.18)\nproject(tiny LANGUAGES C)\nno_such_command()\n"
    (project.folder / "CMakeLists.txt").write_text(text)
    with raises(BuildError, "BL-BUILD-205", "no_such_command"):
        build_native(None, project.cache)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_cache_is_named_in_one_line(project, number):
    text = "cmake_minimum_required(VERSION 3.18)\nproject(tiny LANGUAGES C)\n"
    failure = f'message(FATAL_ERROR "error writing to x.o: {os.strerror(number)}")\n'
    (project.folder / "CMakeLists.txt").write_text(text + failure)
    with raises(BuildError, "BL-BUILD-183", os.strerror(number), "BARELINE_CACHE") as caught:
        build_native(None, project.cache)
    assert caught.value.where == str(project.cache / "native")
    assert str(caught.value).count("\n") == 0


_BUILD = """
import sys
from pathlib import Path
from bareline.build import native as build
build.source_folder = lambda: Path(sys.argv[1])
print(build.build_native(None, Path(sys.argv[2])).cached)
"""


def _start(project):
    return subprocess.Popen(
        [sys.executable, "-c", _BUILD, str(project.folder), str(project.cache)],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_builders_at_once_build_once(project):
    builders = [_start(project) for _ in range(3)]
    said = sorted(builder.communicate(timeout=120)[0].strip() for builder in builders)
    assert said == ["False", "True", "True"]
    assert project.builds == 1


def test_a_killed_builder_does_not_spoil_the_next(project):
    with _start(project) as builder:
        deadline = time.monotonic() + 60
        while not list(project.cache.glob("native/*.tree/build/CMakeFiles")):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        builder.send_signal(signal.SIGKILL)
    found = build_native(None, project.cache)
    assert not found.cached
    assert _run(found.programs / "hello") == "hello\n"
    assert not list(project.cache.glob("native/*.part"))


def _without(monkeypatch, folder, *missing):
    """Let this process find all programs of the system but some."""
    folder.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not program.name.startswith(missing):
            (folder / program.name).symlink_to(program)
    monkeypatch.setenv("PATH", str(folder))


def test_without_a_compiler_a_complete_build_of_the_library_will_do(project, tmp_path, monkeypatch):
    made = build_native(None, project.cache)
    _without(monkeypatch, tmp_path / "bin", "cc", "gcc", "c99", "c89", "x86_64-linux-gnu-gcc")
    assert shutil.which("cc") is None
    found = build_native(None, project.cache)
    assert (found.path, found.cached, project.builds) == (made.path, True, 1)
    with raises(ToolMissing, "BL-BUILD-632", "cc"):
        build_native(None, project.cache, force=True)
    (project.folder / "native" / "hello.c").write_text(_HELLO + "\n")  # other sources
    with raises(ToolMissing, "BL-BUILD-632", "cc"):
        build_native(None, project.cache)


def test_without_a_compiler_no_build_of_another_library_or_machine_is_taken(
    project, tmp_path, monkeypatch
):
    made = build_native(None, project.cache)
    _without(monkeypatch, tmp_path / "bin", "cmake")
    library = MpiInstallation("openmpi", "4.1.4", "/usr/bin/mpirun", None)
    with raises(ToolMissing, "BL-BUILD-263"):
        build_native(library, project.cache)
    record = made.path / "build.json"
    told = json.loads(record.read_text())
    record.write_text(json.dumps({**told, "machine": "riscv64"}))
    with raises(ToolMissing, "BL-BUILD-632", "cmake"):
        build_native(None, project.cache)


def test_mpi_without_its_compiler_names_the_package(project):
    runtime = MpiInstallation("openmpi", "4.1.4", "/usr/bin/mpirun", None)
    with raises(ToolMissing, "BL-BUILD-263", "libopenmpi-dev"):
        build_native(runtime, project.cache)


def test_missing_cmake_names_the_package(project, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises(ToolMissing, "BL-BUILD-632", "cmake"):
        build_native(None, project.cache)


@pytest.mark.usefixtures("project")
def test_cache_that_cannot_be_written():
    with raises(BuildError, "BL-BUILD-183"):
        build_native(None, Path("/proc/bareline"))  # where root cannot make a folder, either


@pytest.mark.mpi
@pytest.mark.slow
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_the_real_programs_build(flavour):
    """Into the user's own cache, where the set-up has built them already."""
    assert (source_folder() / "CMakeLists.txt").is_file()
    try:
        mpi = find_mpi(flavour)
    except PlatformError as error:
        pytest.skip(str(error))
    found = build_native(mpi, cache_folder())
    assert (found.programs / "mpibench").is_file()
    assert found.left_out == ()
