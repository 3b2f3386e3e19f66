"""Containers as a layer: command lines of every runtime, images, what is refused, what is left."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from bareline.host.cache import cache_folder, scratch_folder
from bareline.platforms.base import Context
from bareline.platforms.config import platforms_from_toml
from bareline.platforms.hosts.launchers.installation import MpiInstallation
from bareline.platforms.hosts.layers.container import images
from bareline.platforms.hosts.layers.container.images import unpacked
from bareline.platforms.hosts.layers.container.inspection import (
    check_libc,
    check_mpi,
    look_facts,
    read_look,
)
from bareline.platforms.hosts.layers.container.runtimes import Box, ImageKind, runtimes
from bareline.platforms.hosts.process import local_environment, run_process
from bareline.platforms.localhost.local import LocalOptions, LocalPlatform
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PlatformSpec

BOX = Box("/images/a b", ImageKind.PATH, ("/tmp", "/runs"), ("/cache",), "/runs/x", "bareline-1")
STORED = Box("org/hpc:1", ImageKind.STORED, ("/tmp",), ("/cache",), "/runs/x", "bareline-1")
INSIDE = """sh -c 'cd -- "$1" 2>/dev/null; shift; exec env "$@"' sh "$PWD" "$@\""""
NAMES = "$(env | sed -n 's/^\\([A-Za-z_][A-Za-z0-9_]*\\)=.*/--env \\1/p')"
SHARED = "--network=host --ipc=host --pid=host"


def _line(argv):
    """Give the one line of a runtime, without what is inside."""
    assert argv[:2] == ["sh", "-c"] and argv[3:] == ["sh"]
    line = argv[2].splitlines()[-1]
    assert line.startswith("exec ") and line.endswith(INSIDE)
    return line.removeprefix("exec ").removesuffix(INSIDE).strip()


# Command lines ------------------------------------------------------------------------------------

STARTED = {
    ("bwrap", BOX): "bwrap --unshare-user --die-with-parent --ro-bind '/images/a b' / "
    "--dev-bind /dev /dev --bind /proc /proc --ro-bind /sys /sys --ro-bind /cache /cache "
    "--bind /tmp /tmp --bind /runs /runs --",
    ("charliecloud", BOX): "ch-run --bind /cache --bind /runs '/images/a b' --",
    ("apptainer", BOX): "apptainer exec --bind /cache:/cache:ro --bind /tmp --bind /runs "
    "'/images/a b'",
    ("singularity", STORED): "singularity exec --bind /cache:/cache:ro --bind /tmp "
    "docker://org/hpc:1",
    ("podman", BOX): f"podman run --rm --interactive {NAMES} {SHARED} "
    '$([ "$(id -u)" = 0 ] || echo --userns=keep-id) '
    "--volume /cache:/cache:ro --volume /tmp:/tmp --volume /runs:/runs --rootfs '/images/a b'",
    ("docker", STORED): f"docker run --rm --interactive {NAMES} {SHARED} "
    '--user "$(id -u):$(id -g)" --volume /cache:/cache:ro --volume /tmp:/tmp org/hpc:1',
    ("runsc", BOX): "runsc --platform=ptrace --network=none do -force-overlay=false "
    "-root '/images/a b' --",
}
JOINED = {
    "bwrap": 'nsenter --target "$pid" --user --mount --preserve-credentials --',
    "charliecloud": "ch-run --join-pid=\"$pid\" '/images/a b' --",
    "apptainer": "apptainer exec instance://bareline-1",
    "singularity": "singularity exec instance://bareline-1",
    "podman": f"podman exec --interactive {NAMES} bareline-1",
    "docker": f"docker exec --interactive {NAMES} bareline-1",
}


@pytest.mark.parametrize(("name", "box"), STARTED)
def test_a_rank_starts_in_a_container_of_its_own(name, box):
    assert _line(runtimes()[name].started(box)) == STARTED[name, box]


@pytest.mark.parametrize("name", JOINED)
def test_ranks_join_the_container_of_their_node(name):
    argv = runtimes()[name].joined(BOX)
    assert _line(argv) == JOINED[name]
    assert 'read -r pid </runs/x/"$(uname -n)" || exit 125\n' in argv[2]


def test_every_runtime_is_tried():
    assert {name for name, _ in STARTED} == set(runtimes())
    joins = {name for name, runtime in runtimes().items() if runtime.joins and not runtime.whole}
    assert joins == set(JOINED)


@pytest.mark.parametrize("name", [*JOINED])
def test_what_holds_a_container_says_ready_and_ends_with_its_input(name):
    line = runtimes()[name].holder(BOX)[2]
    assert "echo ready && exec cat >/dev/null" in line
    if name in ("apptainer", "singularity"):
        assert f"{name} instance start" in line and f"{name} instance stop bareline-1" in line
    if name in ("podman", "docker"):
        assert shlex.split(line.splitlines()[-1])[:4] == ["exec", name, "run", "--name=bareline-1"]


# What is refused ----------------------------------------------------------------------------------


def _platform(kind="local", **container):
    more = {"hosts": ["a"]} if kind == "ssh" else {}
    table = {"platform": {"box": {"type": kind, "container": container, **more}}}
    return platforms_from_toml(table, where="platforms.toml")["box"]


@pytest.mark.parametrize(
    ("container", "code"),
    [
        ({"runtime": "lxc"}, "BL-PLATFORMS-613"),
        ({"runtime": "bwrap", "image": "org/hpc:1"}, "BL-PLATFORMS-652"),
        ({"runtime": "charliecloud", "image": "host"}, "BL-PLATFORMS-652"),
        ({"runtime": "docker", "image": "/a.tar"}, "BL-PLATFORMS-652"),
        ({"runtime": "bwrap", "image": "/a/../b"}, "BL-PLATFORMS-820"),
        ({"runtime": "sarus", "image": "a"}, "BL-PLATFORMS-579"),
        ({"runtime": "runsc", "image": "host"}, "BL-PLATFORMS-706"),
        ({"runtime": "bwrap", "bind": ["data"]}, "BL-PLATFORMS-613"),
        ({"runtime": "bwrap", "shared": "node"}, "BL-PLATFORMS-613"),
    ],
)
def test_a_wrong_container_is_refused_with_file_and_key(container, code):
    with raises(PlatformError, code) as caught:
        _platform(**container)
    assert caught.value.where == "platforms.toml, [platform.box]"
    assert "container" in str(caught.value)


def test_gvisor_is_for_one_machine():
    with raises(PlatformError, "BL-PLATFORMS-449"):
        _platform("netns", runtime="runsc", image="host", share="node")


@pytest.mark.parametrize("kind", ["local", "netns", "ssh", "slurm"])
def test_four_types_have_the_same_option(kind):
    spec = _platform(kind, runtime="bwrap", image="/images/hpc", share="node", bind=["/data"])
    assert spec.to_dict()["container"] == {
        "runtime": "bwrap", "image": "/images/hpc", "share": "node", "bind": ["/data"],
    }  # fmt: skip


# What is inside -----------------------------------------------------------------------------------

OUTSIDE = """ns.user user:[1]
ns.mnt mnt:[2]
ns.pid pid:[3]
NoNewPrivs\t0
uid 1000
kernel 6.1
os Debian GNU/Linux 12 (bookworm)
libc glibc 2.36
pmix libpmix.so.2.5.2
mpi mpirun (Open MPI) 4.1.4
"""
MPI = MpiInstallation("openmpi", "4.1.4", "/usr/bin/mpirun")


def _inside(**changed):
    lines = dict(line.replace("\t", " ").split(" ", 1) for line in OUTSIDE.splitlines())
    return read_look("".join(f"{key} {value}\n" for key, value in (lines | changed).items()))


def test_what_programs_see_inside_becomes_facts():
    inside = _inside(
        **{"ns.user": "user:[9]", "ns.mnt": "mnt:[8]", "Seccomp": "2", "cgroup.pids.max": "50"},
        libc="ldd (Ubuntu GLIBC 2.39-0ubuntu8) 2.39", os="Ubuntu 24.04", kernel="4.4.0",
    )  # fmt: skip
    assert look_facts(inside, read_look(OUTSIDE), "rank") == {
        "container.namespaces": "users, mounts",
        "container.userns": "per-rank",
        "container.rootless": True,
        "container.seccomp": "filter",
        "container.limits": "pids 50",
        "os.name": "Ubuntu 24.04",
        "library.libc": "glibc 2.39",
        "kernel.release": "4.4.0",
    }
    alike = look_facts(_inside(uid="0"), _inside(uid="0"), "node")
    assert (alike["container.userns"], alike["container.rootless"]) == ("none", False)


@pytest.mark.parametrize(
    ("changed", "values"),
    [
        ({"mpi": "mpirun (Open MPI) 5.0.3"}, ("5.0.3", "Open MPI 4.1.4")),
        ({"mpi": "HYDRA build details: Version: 4.0.2"}, ("MPICH 4.0.2",)),
        ({"mpi": ""}, ("Open MPI 4.1",)),
        ({"pmix": "libpmix.so.3.0.0"}, ("libpmix.so.3.0.0",)),
    ],
)  # fmt: skip
def test_another_mpi_inside_is_refused_with_what_to_do(changed, values):
    with raises(PlatformError, "BL-PLATFORMS-343", *values):
        check_mpi(_inside(**changed), read_look(OUTSIDE), MPI, "box")
    check_mpi(_inside(mpi="mpirun (Open MPI) 4.1.6"), read_look(OUTSIDE), MPI, "box")


def test_an_older_c_library_inside_is_refused_where_programs_need_more():
    check_libc(_inside(), "2.36", "box")
    check_libc(_inside(libc="glibc 2.9"), "", "box")
    with raises(PlatformError, "BL-PLATFORMS-858", "2.9", "2.34"):
        check_libc(_inside(libc="glibc 2.9"), "2.34", "box")
    with raises(PlatformError, "BL-PLATFORMS-858"):
        check_libc(_inside(libc="musl libc (x86_64) 1.2"), "2.34", "box")


# Archives -----------------------------------------------------------------------------------------


def _tar(*entries, compressed=False):
    """Pack entries: (name, text), or (name, kind, link)."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz" if compressed else "w") as tar:
        for name, *what in entries:
            entry = tarfile.TarInfo(name)
            if isinstance(what[0], bytes) and len(what) == 2:
                entry.type, entry.linkname = what
                tar.addfile(entry)
            else:
                content = what[0] if isinstance(what[0], bytes) else what[0].encode()
                entry.size, entry.mode = len(content), (what[1:] or [0o644])[0]
                tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


def _oci(path, *layers, compressed=True):
    blobs = [_tar(*layer, compressed=compressed) for layer in layers]
    named = {f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}": blob for blob in blobs}
    manifest = json.dumps(
        {"layers": [{"digest": f"sha256:{name.rpartition('/')[2]}"} for name in named]}
    ).encode()
    digest = hashlib.sha256(manifest).hexdigest()
    index = json.dumps({"manifests": [{"digest": f"sha256:{digest}"}]})
    path.write_bytes(
        _tar(("index.json", index), (f"blobs/sha256/{digest}", manifest), *named.items())
    )
    return path


def _docker(path, *layers):
    blobs = {f"{number}/layer.tar": _tar(*layer) for number, layer in enumerate(layers)}
    path.write_bytes(_tar(*blobs.items(), ("manifest.json", json.dumps([{"Layers": list(blobs)}]))))
    return path


needs_umoci = pytest.mark.skipif(shutil.which("umoci") is None, reason="no umoci here")


@needs_umoci
@pytest.mark.parametrize("pack", [_oci, _docker])
def test_layers_lie_over_each_other(pack, tmp_path):
    archive = pack(
        tmp_path / "image.tar",
        [("./etc/a", "low"), ("etc/b", "low"), ("opt/x", "low"), ("lib", tarfile.SYMTYPE, "etc")],
        [("etc/a", "high"), ("etc/.wh.b", ""), ("opt/.wh..wh..opq", ""), ("opt/y", "high"),
         ("dev/sda", tarfile.BLKTYPE, ""), ("etc/c", tarfile.LNKTYPE, "etc/a")],
    )  # fmt: skip
    root = unpacked(archive, tmp_path / "images")
    files = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert files == {"etc/a", "etc/c", "opt/y"}
    assert (root / "etc/a").read_text(encoding="utf-8") == "high"
    assert unpacked(archive, tmp_path / "images") == root


#: `@` stands for a folder outside of the cache.
_SYM, _HARD, _DIR = tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE
_LONG = "n" * 247
_DEEP = [("/".join([_LONG] * depth), _DIR, "") for depth in range(1, 17)]
_END = _DEEP[-1][0]
#: Short links beside each folder, by which the kernel walks where `realpath` gives up.
_CHAIN = [one for name, (path, *_) in zip("abcdefghijklmnop", _DEEP, strict=True)
          for one in ((path, _DIR, ""), (f"{path[:-247]}{name}", _SYM, _LONG))]  # fmt: skip
_WAY = "/".join("abcdefghijklmnop")
HOSTILE = {
    "up": [[("../out", "x")]],
    "up-inside": [[("a/../../out", "x")]],
    "absolute": [[("@/out", "x")]],
    "link-then-file": [[("up", _SYM, "@"), ("up/secret", "x")]],
    "link-then-folder": [[("up", _SYM, "@"), ("up/folder", _DIR, "")]],
    "link-across-layers": [[("up", _SYM, "@")], [("up/secret", "x")]],
    "links-in-a-row": [[("d/up", _SYM, ".."), ("x", _SYM, "d/up/../.."), ("x/secret", "x")]],
    "root-is-a-link": [[("./", _SYM, "@"), ("secret", "x")]],
    "hard-link": [[("out", _HARD, "@/secret"), ("out", "x")]],
    "hard-link-up": [[("out", _HARD, "../../secret"), ("out", "x")]],
    "hard-link-through-link": [[("up", _SYM, "@"), ("out", _HARD, "up/secret"), ("out", "x")]],
    "block-device": [[("sda", tarfile.BLKTYPE, ""), ("a", "x")]],
    "other-devices": [[("n", tarfile.CHRTYPE, ""), ("f", tarfile.FIFOTYPE, ""), ("a", "x")]],
    "set-user": [[("su", "x", 0o6777)]],
    "opaque-through-link": [[("up", _SYM, "..")], [("up/.wh..wh..opq", "")]],
    "removed-through-link": [[("up", _SYM, "@")], [("up/.wh.secret", "")]],
    "removed-above": [[("a", "x")], [(".wh...", "")]],
    "removed-itself": [[("d/a", "x")], [("d/.wh..", ""), ("d/.wh.", ""), ("d/.wh...", "")]],
    "long-path": [[*_DEEP, (f"{_END}/up", _SYM, "@"), (f"{_END}/up/secret", "x")]],
    "long-links": [[*_CHAIN, (f"{_WAY}/{'l' * 254}", _SYM, "../" * 16),
                    ("n", _SYM, f"{_WAY}/{'l' * 254}/../../outside"), ("n/secret", "x")]],
    "long-links-folder": [[*_CHAIN, (f"{_WAY}/{'l' * 254}", _SYM, "../" * 16),
                    ("n", _SYM, f"{_WAY}/{'l' * 254}/../../outside/folder"), ("n/", _DIR, ""),
                    ("n/a", "x")]],
    "long-name": [[("n" * 300, "x"), ("up", _SYM, "@"), (f"up/{'n' * 300}/../secret", "x")]],
}  # fmt: skip


def _state(paths):
    """Give every path below with its mode and content."""
    return {
        str(path): (path.lstat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in paths
        if path.suffix != ".lock"
    }


@needs_umoci
@pytest.mark.parametrize("layers", HOSTILE.values(), ids=HOSTILE)
def test_nothing_of_an_archive_reaches_beyond_its_folder(layers, tmp_path):
    outside, images = tmp_path / "outside", tmp_path / "images"
    for folder in (outside, images / "other"):
        (folder / "folder").mkdir(parents=True)
        (folder / "folder").chmod(0o750)
        for path in (folder / "secret", folder.parent / "secret"):
            path.write_text("kept", encoding="utf-8")
    there = [
        [tuple(x.replace("@", str(outside)) if isinstance(x, str) else x for x in entry)
         for entry in layer]
        for layer in layers
    ]  # fmt: skip
    archive = _oci(tmp_path / "image.tar", *there)
    others = [tmp_path, outside, images, images / "other"]
    before = _state([one for folder in others for one in folder.glob("*")])
    root = None
    with contextlib.suppress(PlatformError):
        root = unpacked(archive, images)
    after = _state([one for folder in others for one in folder.glob("*") if one != root])
    assert after == before
    for here, folders, files in os.walk(root) if root else ():
        for name in (*folders, *files):
            mode = (Path(here) / name).lstat().st_mode
            assert stat.S_IFMT(mode) in (stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK)
            assert stat.S_ISLNK(mode) or not mode & 0o7022


@needs_umoci
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "BL-PLATFORMS-729"),
        (b"no archive", "BL-PLATFORMS-729"),
        (_tar(("a", "b")), "BL-PLATFORMS-852"),
        (_tar(), "BL-PLATFORMS-852"),
    ],
)
def test_what_is_no_image_is_refused(content, code, tmp_path):
    (tmp_path / "image.tar").write_bytes(content)
    with raises(PlatformError, code, "image.tar"):
        unpacked(tmp_path / "image.tar", tmp_path / "images")


# The oldest Python that is supported is that of stock Debian 12, 3.11.2 ---------------------------


@pytest.fixture
def without_filters(monkeypatch):
    """Hide what `tarfile` has since Python 3.11.4."""
    plain = tarfile.TarFile.extractall

    def extractall(self, path=".", members=None, *, numeric_owner=False):
        plain(self, path, members, numeric_owner=numeric_owner)

    monkeypatch.delattr(tarfile.TarInfo, "replace", raising=False)
    monkeypatch.setattr(tarfile.TarFile, "extractall", extractall)
    for name in ("tar_filter", "data_filter", "fully_trusted_filter"):
        monkeypatch.delattr(tarfile, name, raising=False)


@needs_umoci
def test_an_archive_is_unpacked_by_a_python_without_filters(without_filters, tmp_path):
    archive = _oci(tmp_path / "image.tar", [("etc/a", "low")])
    assert (unpacked(archive, tmp_path / "images") / "etc/a").read_text() == "low"


def test_a_root_that_was_built_is_extracted_by_a_python_without_filters(without_filters, tmp_path):
    packed = tmp_path / "root.tar"
    packed.write_bytes(
        _tar(("./etc", _DIR, ""), ("./etc/a", "x", 0o6777), ("./sda", tarfile.BLKTYPE, ""))
    )
    root = tmp_path / "root"
    root.mkdir()
    images._extract_own(packed, root)
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == ["etc", "etc/a"]
    assert stat.S_IMODE((root / "etc/a").stat().st_mode) == 0o755


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b"])
def test_a_root_that_was_built_stays_within_its_folder(name, tmp_path):
    packed = tmp_path / "root.tar"
    packed.write_bytes(_tar((name, "x")))
    (tmp_path / "root").mkdir()
    with raises(ValueError, "BL-PLATFORMS-484"):
        images._extract_own(packed, tmp_path / "root")


def _debians_python():
    """Give the interpreter of the system if it is an earlier 3.11 than this one."""
    python = Path("/usr/bin/python3")
    if not python.exists():
        return None
    line = [python, "-c", "import sys; print(*sys.version_info[:3])"]
    shown = subprocess.run(line, capture_output=True, text=True, check=False).stdout.split()
    version = tuple(map(int, shown))
    same = version[:2] == sys.version_info[:2]  # its packages fit
    return python if same and version < sys.version_info[:3] else None


@needs_umoci
def test_an_archive_is_unpacked_by_the_python_of_the_system(tmp_path):
    python = _debians_python()
    if python is None:
        pytest.skip("the system's Python is not older than this one, or of another minor version")
    _oci(tmp_path / "image.tar", [("etc/a", "low")])
    paths = [str(Path(images.__file__).parents[5]), *(path for path in sys.path if path)]
    program = (
        f"import sys; sys.path[:0] = {[p for p in paths if 'site-packages' in p or 'src' in p]!r}\n"
        "from pathlib import Path\n"
        "from bareline.platforms.hosts.layers.container.images import unpacked\n"
        "print((unpacked(Path('image.tar'), Path('images')) / 'etc/a').read_text())\n"
    )
    line = [python, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "low\n"), done.stderr


# In use -------------------------------------------------------------------------------------------

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="no bubblewrap here")


@needs_bwrap
def test_ranks_of_a_node_share_one_container_or_have_their_own(keep_bench):
    box = {"runtime": "bwrap", "image": "host"}
    each = keep_bench("local", container=box | {"share": "rank"})
    node = keep_bench("local", container=box | {"share": "node"})
    look = "readlink /proc/self/ns/user"
    outside = str(Path("/proc/self/ns/user").readlink())
    shared = {node.shell(look).stdout.strip() for _ in range(2)}
    assert len(shared) == 1 and outside not in shared
    assert each.shell(look).stdout.strip() not in {outside, *shared}
    facts = node.allocation.facts()
    assert facts["container.userns"] == "per-node" and facts["container.runtime"] == "bubblewrap"
    assert each.allocation.facts()["container.userns"] == "per-rank"
    assert node.shell("touch /usr/bareline-wrote").exit_code != 0


@needs_bwrap
def test_a_container_that_is_killed_is_made_anew(keep_bench):
    bench = keep_bench("local", container={"runtime": "bwrap", "image": "host", "share": "node"})
    bench.shell("true")
    (holder,) = bench.allocation.boxes._holders
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait(10)
    assert bench.shell("echo again").stdout == "again\n"


_KILLED = """
import sys
from pathlib import Path
from bareline.platforms.localhost.local import LocalPlatform
from bareline.testing.bench import open_bench
folder, runtime, share = Path(sys.argv[1]), *sys.argv[2:]
box = {"runtime": runtime, "image": "host", "share": share, "bind": [str(folder)]}
with open_bench(LocalPlatform, folder, container=box) as bench:
    bench.run("sh", "-c", 'echo up >"$1/up"; while :; do sleep 1; done', "sh", str(folder))
"""


@pytest.mark.parametrize(
    ("runtime", "program", "share"),
    [("bwrap", "bwrap", "rank"), ("bwrap", "bwrap", "node"), ("runsc", "runsc", "node")],
)
def test_a_killed_bareline_leaves_no_container(runtime, program, share, tmp_path):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    line = [sys.executable, "-c", _KILLED, str(tmp_path), runtime, share]
    with subprocess.Popen(line, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: (tmp_path / "up").exists() or process.poll() is not None)
        if process.poll() is not None:
            _, said = process.communicate()
            assert "starts no container here" in said, said
            pytest.skip(said.splitlines()[-1])
        assert _mentioning(tmp_path)
        process.kill()
    # Mounts and namespaces end with the last process that is in them.
    until(lambda: not _mentioning(tmp_path))


def _mentioning(folder):
    """List the processes whose command line names a folder."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                told = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if str(folder).encode() in told:
                found.append(int(entry.name))
    return found


@needs_bwrap
def test_an_image_without_a_place_is_refused_with_the_command_that_makes_it(tmp_path, acquire):
    (tmp_path / "root").mkdir()
    box = {"runtime": "bwrap", "image": str(tmp_path / "root")}
    refused = raises(PlatformError, "BL-PLATFORMS-464", str(tmp_path), "/root/dev")
    with refused, acquire("local", container=box):
        pass


@pytest.mark.skipif(shutil.which("ch-run") is None, reason="Charliecloud is not installed")
@pytest.mark.parametrize("share", ["rank", "node"])
def test_a_folder_of_a_run_needs_no_place_where_the_cache_has_one(share, skeleton):
    """Its name is new each time: nobody can make a place for it in an image of theirs."""
    box = {"runtime": "charliecloud", "share": share, **skeleton}
    with scratch_folder("box") as scratch:
        spec = PlatformSpec("box", "local", LocalOptions(container=box))
        with LocalPlatform(spec, Context(scratch)).acquire(Layout(1)) as machine:
            written = Command(argv=("sh", "-c", 'echo seen >"$1"', "sh", f"{scratch}/file"))
            assert machine.run(written, Layout(1), timeout_s=60).exit_code == 0
        assert (scratch / "file").read_text() == "seen\n"


def test_a_runtime_without_its_service_is_not_available(tmp_path, monkeypatch):
    if shutil.which("docker") is None:
        pytest.skip("docker is not installed")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no-daemon")
    spec = _platform(runtime="docker", image="debian")
    found = LocalPlatform.available(spec)
    assert not found.ok and found.hint
    assert "Docker" in found.reason and "no-daemon" in found.reason
    assert "--help" not in found.reason


def test_rootless_docker_daemon_is_no_place_for_ranks(tmp_path, monkeypatch):
    """Its containers cannot have the node's processes (seen with Docker 20.10)."""
    docker = tmp_path / "docker"
    docker.write_text("#!/bin/sh\necho '[name=seccomp,profile=default name=rootless]'\n")
    docker.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = LocalPlatform.available(_platform(runtime="docker", image="org/hpc:1"))
    assert not found.ok and "rootless" in found.reason and found.hint


def test_a_limit_of_bareline_is_not_told_as_a_signal():
    finished = run_process(["sleep", "9"], env=local_environment(), timeout_s=0.3)
    assert finished.why == "no answer within 0 s"
    assert replace(finished, timed_out=False).why == f"exit code {finished.exit_code}"


def test_the_page_says_which_runtime_takes_which_image():
    page = Path(__file__).parents[3] / "docs" / "how-to" / "containers.md"
    rows = [row.split("|")[1:-1] for row in page.read_text().splitlines() if row[:2] == "| "]
    told = {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows if len(row) == 6}
    kinds = [image.value for image in ImageKind]
    assert told.pop("runtime") == kinds
    assert told == {
        name: ["yes" if image in runtime.images else "" for image in ImageKind]
        for name, runtime in runtimes().items()
    }


_AS_USER = """
import sys, tempfile
sys.path[:0] = sys.argv[1:]
from pathlib import Path
from bareline.platforms.base import Context
from bareline.platforms.localhost.local import LocalOptions, LocalPlatform
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PlatformSpec
for share in ("rank", "node"):
    with tempfile.TemporaryDirectory() as folder:
        box = {"runtime": "bwrap", "image": "host", "share": share}
        spec = PlatformSpec("box", "local", LocalOptions(container=box))
        context = Context(Path(folder), Path(folder))
        with LocalPlatform(spec, context).acquire(Layout(1)) as machine:
            done = machine.run(Command(argv=("id", "-u")), Layout(1), timeout_s=20)
            facts = machine.facts()
            print(done.stdout.strip(), facts["container.userns"], facts["container.rootless"])
"""


@needs_bwrap
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become another user")
def test_an_ordinary_user_has_the_same_containers(run_as, ordinary_user):
    assert run_as(ordinary_user, _AS_USER) == ["65534 per-rank True", "65534 per-node True"]


@pytest.mark.skipif(shutil.which("runsc") is None, reason="gVisor is not installed")
def test_gvisor_has_a_kernel_of_its_own_and_a_caveat(acquire, tmp_path):
    box = {"runtime": "runsc", "image": "host", "share": "node", "bind": [str(tmp_path)]}
    try:
        with acquire("local", container=box) as machine:
            facts = machine.facts()
            caveats = machine.caveats(Layout(1))
            written = Command(argv=("sh", "-c", "uname -v >{workdir}/said"), outputs=("said",))
            done = machine.run(written, Layout(1), timeout_s=60)
    except PlatformError as error:
        if "starts no container here" in str(error):
            pytest.skip(str(error))
        raise
    assert done.exit_code == 0, done.stderr
    assert done.files["said"].strip() != os.uname().version
    assert facts["kernel.release"] != os.uname().release
    assert "sandbox-kernel" in caveats


_BUILT = [*(cache_folder() / "containers").glob("bareline-????????????????")]


@needs_bwrap
@pytest.mark.mpi
@pytest.mark.skipif(not _BUILT, reason='no image here: a run with image = "bareline" builds it')
@pytest.mark.parametrize("flavour", ["openmpi", "mpich"])
def test_ranks_run_in_the_image_that_bareline_builds(flavour, keep_bench, rank_program):
    box = {"runtime": "bwrap", "image": "bareline", "share": "node"}
    bench = keep_bench("local", rank_program(flavour), mpi=flavour, container=box)
    done = bench.ranks()
    assert done.exit_code == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2
    assert len(str(bench.allocation.facts()["container.image_hash"])) == 64
