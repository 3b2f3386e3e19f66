"""The MPI library of nodes: found there, and the native programs built against it."""

from __future__ import annotations

import hashlib
import io
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

from bareline.build.native import ensure_native
from bareline.build.sources import source_folder
from bareline.platforms.hosts import HostsAllocation, local_environment
from bareline.platforms.launchers import LAUNCHERS, MpiInstallation, find_mpi, identify
from bareline.platforms.remote.files import pack
from bareline.vocabulary.errors import BuildError, PlatformError, ToolMissing

_FIND = """
for name in "$@"; do
    path=$(command -v "$name") || continue
    printf 'found %s\\n' "$path"
    LC_ALL=C "$path" --version 2>&1
    printf 'end\\n'
done
"""
#: Builds into a cache folder of the node, in one step for whoever looks at it.
_BUILD = """
set -e
target=${XDG_CACHE_HOME:-$HOME/.cache}/bareline/native-$1
if [ ! -d "$target" ]; then
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    tar -xf - -C "$work"
    cd "$work"
    {
        cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DBARELINE_TESTS=OFF "-DMPI_C_COMPILER=$2"
        cmake --build build --parallel "$(nproc)"
        cmake --install build --prefix "$work/prefix"
    } >log 2>&1 || { tail -n 12 log >&2; exit 1; }
    mkdir -p "$(dirname "$target")"
    mv -T "$work/prefix" "$target" 2>/dev/null || [ -d "$target" ]
else
    cat >/dev/null
fi
printf '%s\\n' "$target"
"""
_BUILD_S = 1800.0


def find_remote_mpi(nodes: HostsAllocation, choice: str) -> MpiInstallation:
    """Find the MPI library of the first node.

    Parameters
    ----------
    choice
        As the option ``mpi`` gives it.

    Raises
    ------
    ToolMissing
        There is none, or not the one that was asked for.
    """
    where = nodes.nodes[0].name
    if choice in LAUNCHERS:
        names: Sequence[str] = (*LAUNCHERS[choice].launchers, "mpirun", "mpiexec")
    elif choice == "auto":
        names = ("mpirun", *(name for each in LAUNCHERS.values() for name in each.launchers))
    else:
        names = (choice, f"{choice}/bin/mpirun", f"{choice}/mpirun")
    said = nodes.on_node(0, ["sh", "-c", _FIND, "sh", *names]).stdout
    for part in said.split("\nend\n"):
        line, _, version = part.partition("\n")
        known = identify(version)
        if known is None or not line.startswith("found "):
            continue
        flavour, number = known
        if choice in LAUNCHERS and flavour != choice:
            continue
        mpirun = line.removeprefix("found ")
        beside = [str(Path(mpirun).parent / name) for name in LAUNCHERS[flavour].compilers]
        there = nodes.on_node(0, ["sh", "-c", 'ls -1 "$@" 2>/dev/null', "sh", *beside]).stdout
        compiler = next((path for path in beside if path in there.splitlines()), None)
        return MpiInstallation(flavour, number, mpirun, compiler)
    what = "no MPI library" if choice == "auto" else f"no MPI library '{choice}'"
    raise ToolMissing(
        f"{what} found on the node's path",
        where=where,
        hint="name its mpirun as `mpi`, or what loads it as `modules`",
    )


def remote_native(nodes: HostsAllocation, mpi: MpiInstallation, cache: Path) -> bytes:
    """Give the native programs for the nodes' library, packed.

    What this machine can build, with the same library in the same version, is built here; anything
    else on the first node, with its own compilers, once.

    Raises
    ------
    BuildError
        They do not build there.
    """
    try:
        here = find_mpi(mpi.flavour)
        if here.version == mpi.version and here.mpicc is not None:
            return pack(ensure_native(here, cache).parent)
    except PlatformError:
        pass  # Not the library of the nodes: they build by themselves.
    return _build_there(nodes, mpi)


def _build_there(nodes: HostsAllocation, mpi: MpiInstallation) -> bytes:
    where = nodes.nodes[0].name
    if mpi.mpicc is None:
        raise BuildError(f"{mpi.title} is there without its compiler wrapper", where=where)
    sources = _pack_sources()
    key = hashlib.sha256(sources + mpi.title.encode() + mpi.mpicc.encode()).hexdigest()[:16]
    line = nodes.node_argv(0, ["sh", "-c", _BUILD, "sh", key, mpi.mpicc], {})
    built = _exchange(line, sources, "built", where)
    target = built.decode(errors="replace").strip().splitlines()[-1]
    return _exchange(
        nodes.node_argv(0, ["tar", "-C", target, "-cf", "-", "."], {}), b"", "read", where
    )


def _exchange(line: Sequence[str], content: bytes, done_what: str, where: str) -> bytes:
    try:
        done = subprocess.run(
            line,
            input=content,
            capture_output=True,
            env=local_environment(),
            timeout=_BUILD_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BuildError(
            f"the native programs are not {done_what} after {_BUILD_S:.0f} s", where=where
        ) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise BuildError(f"the native programs cannot be {done_what} there: {said}", where=where)
    return done.stdout


def _pack_sources() -> bytes:
    """Pack what CMake needs, the same bytes for the same sources."""
    top = source_folder()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        files = [top / "CMakeLists.txt", *sorted((top / "native").rglob("*"))]
        for path in files:
            if path.is_file():
                entry = tarfile.TarInfo(str(path.relative_to(top)))
                entry.size, entry.mode = path.stat().st_size, path.stat().st_mode & 0o777
                with path.open("rb") as opened:
                    archive.addfile(entry, opened)
    return packed.getvalue()
