"""File systems as a layer: mounted for the trials alone, named, and gone after every exit."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.platforms.base import availability_of
from bareline.platforms.config import platforms_from_toml
from bareline.platforms.hosts.layers.filesystem.mounted import Export, folder_below, serve
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

MIB = 1 << 20
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
LOOPS = ("ext4", "xfs", "btrfs")

#: Acquires a platform with a file system, says so, and waits for its end.
KEEPS = """
import json, sys
from pathlib import Path
from bareline.platforms.base import load_platform_types
from bareline.testing.bench import open_bench
kind, options, scratch = sys.argv[1:]
with open_bench(load_platform_types()[kind], Path(scratch), **json.loads(options)) as bench:
    print(bench.shell("df --output=source {workdir} | tail -n 1").stdout, end="", flush=True)
    sys.stdin.read()
"""


def _spec(**table):
    table = {"type": "local", **table}
    return platforms_from_toml({"platform": {"p": table}}, where="t")["p"]


def _needs(kind):
    """Skip where the kernel lacks a file system, or this machine the program that makes it."""
    available = availability_of(_spec(filesystem={"type": f"loop-{kind}", "size_bytes": 512 * MIB}))
    if not available.ok:
        pytest.skip(available.reason)


def _loops_of(folder):
    """List the loop devices whose file lies, or lay, in a folder."""
    found = []
    for name in Path("/sys/block").glob("loop*/loop/backing_file"):
        try:
            behind = name.read_text(encoding="utf-8")
        except OSError:  # it went meanwhile
            continue
        if behind.startswith(f"{folder}/"):
            found.append(behind)
    return found


def _speaking_of(folder):
    """List the processes whose command line names a folder, but for those that acquire."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if str(folder) in words and "gluster" in words.partition("\0")[0]:
            found.append(words)
    return found


@needs_root
@pytest.mark.parametrize("platform", ["local", pytest.param("netns", marks=pytest.mark.netns)])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_file_system_in_a_file_is_what_trials_work_on(open_bench, tmp_path, platform, kind):
    _needs(kind)
    chosen = {"type": f"loop-{kind}", "size_bytes": 512 * MIB, "options": "noatime"}
    bench = open_bench(platform, filesystem=chosen, io_folder=tmp_path)
    seen = bench.shell("df --output=fstype {workdir} | tail -n 1", node=-1).stdout.strip()
    facts = bench.allocation.facts()
    assert seen == facts["fs.type"] == kind
    assert facts["fs.layer"] == f"loop-{kind}"
    assert "noatime" in str(facts["fs.options"]).split(",")
    assert facts["fs.below_cache"] == "page cache"
    assert facts["fs.block_bytes"] == 4096
    assert 0.7 * 512 * MIB < int(facts["fs.total_bytes"]) <= 512 * MIB
    measured = bench.run("true", "{workdir}", storage_bytes=MIB)
    assert "loop-file" in measured.caveats
    assert len(_loops_of(tmp_path)) == 1
    # Nothing of it is to be seen from outside: neither its file nor its mount.
    assert not [path for path in tmp_path.rglob("*") if path.name == "image"]
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text(encoding="utf-8")


@pytest.mark.netns
@pytest.mark.parametrize("privilege", ["root", "user namespace"])
def test_all_hosts_see_one_file_system_in_memory(open_bench, privilege):
    bench = open_bench("netns", privilege=privilege, filesystem={"type": "tmpfs"})
    folder = bench.allocation.work_folder()
    assert bench.run("tee", f"{folder}/told", node=0).exit_code == 0
    assert bench.run("test", "-e", f"{folder}/told", node=-1).exit_code == 0
    measured = bench.run("true", "{workdir}", storage_bytes=MIB)
    assert "memory-file-system" in measured.caveats
    assert bench.allocation.facts()["fs.layer"] == "tmpfs"


@needs_root
@pytest.mark.netns
@pytest.mark.mpi
@pytest.mark.slow
def test_hosts_serve_each_other_a_volume(open_bench, tmp_path):
    chosen = {"type": "gluster", "bricks": 2}
    available = availability_of(_spec(type="netns", filesystem=chosen))
    if not available.ok:
        pytest.skip(available.reason)
    bench = open_bench("netns", mpi="openmpi", filesystem=chosen, io_folder=tmp_path)
    folder = bench.allocation.work_folder()
    many = f"mkdir {folder}/many && cd {folder}/many && touch $(seq 40)"
    assert bench.shell(many, node=0).exit_code == 0
    assert len(bench.run("ls", f"{folder}/many", node=-1).stdout.split()) == 40
    # Each file is on one brick, and both have some.
    held = [len(list(brick.glob("many/*"))) for brick in sorted(tmp_path.glob("*/brick*"))]
    assert len(held) == 2
    assert sum(held) == 40
    assert min(held) > 4
    # Ranks begin in the trial's folder, wherever the launcher is.
    script = "df --output=fstype . | tail -n 1"
    layout = bench.two_ranks
    ranks = bench.run("sh", "-c", script, "{workdir}", mpi=True, layout=layout)
    assert ranks.stdout.split() == ["fuse.glusterfs"] * 2
    facts = bench.allocation.facts()
    assert (facts["fs.layer"], facts["fs.bricks"]) == ("gluster", 2)
    assert facts["fs.brick_places"] == "node1, node2"
    assert str(facts["fs.export"]).startswith("Distribute")
    measured = bench.run("true", "{workdir}", storage_bytes=MIB)
    assert "server-cache" in measured.caveats


@needs_root
@pytest.mark.netns
@pytest.mark.skipif(shutil.which("ganesha.nfsd") is None, reason="nfs-ganesha is not installed")
def test_a_host_serves_nfs_to_the_others(open_bench, tmp_path):
    """As far as the server: a client needs a kernel that has one (see the guests' tests)."""
    bench = open_bench("netns")
    server, client = bench.allocation.peers()
    serve(server.run, [Export(str(tmp_path), "files")], server.address, str(tmp_path / "kept"))
    assert "ganesha.nfsd" in server.run(["ps", "-eo", "args"], "").stdout
    reach = ["bash", "-c", f"exec 3<>/dev/tcp/{server.address}/2049"]
    assert client.run(reach, "").exit_code == 0
    assert client.run(["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/2049"], "").exit_code != 0


@pytest.mark.parametrize(
    ("platform", "server"),
    [("local", "node"), ("netns", "host"), ("netns", "files.site:/export")],
)
@needs_root
def test_a_server_cannot_be_everywhere(platform, server):
    available = availability_of(_spec(type=platform, filesystem={"type": "nfs", "server": server}))
    assert not available.ok
    assert available.reason and "`server`" in available.hint


@needs_root
@pytest.mark.netns
@pytest.mark.slow
def test_a_volume_is_gone_after_a_kill(tmp_path):
    available = availability_of(_spec(type="netns", filesystem={"type": "gluster"}))
    if not available.ok:
        pytest.skip(available.reason)
    options = '{"filesystem": {"type": "gluster", "bricks": 1}}'
    with subprocess.Popen(
        [sys.executable, "-c", KEEPS, "netns", options, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout.readline().strip() == "10.94.0.1:/bareline"
        assert _speaking_of(tmp_path)
        child.kill()
    until(lambda: not _speaking_of(tmp_path))
    with folder_below(tmp_path):
        pass
    assert not list(tmp_path.glob("bareline-work-*"))


@needs_root
@pytest.mark.mpi
def test_ranks_work_on_it(open_bench):
    _needs("ext4")
    bench = open_bench("local", mpi="openmpi", filesystem={"type": "loop-ext4"})
    told = "df --output=source . | tail -n 1"
    layout = bench.two_ranks
    seen = bench.run("sh", "-c", told, "{workdir}", mpi=True, layout=layout).stdout.split()
    assert len(seen) == 2
    assert all(device.startswith("/dev/loop") for device in seen)


@pytest.mark.slow
@needs_root
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_container_lies_on_it(open_bench):
    """Layers are independent: a program in a container works on what is mounted for the trials."""
    _needs("ext4")
    chosen = {"type": "loop-ext4"}
    bench = open_bench("local", filesystem=chosen, container={"runtime": "bwrap"})
    seen = bench.shell("df --output=source {workdir} | tail -n 1").stdout
    assert seen.startswith("/dev/loop")


@needs_root
def test_direct_goes_around_the_page_cache_below(open_bench):
    _needs("ext4")
    chosen = {"type": "loop-ext4", "direct": True}
    bench = open_bench("local", filesystem=chosen)
    assert "loop-file" not in bench.run("true", "{workdir}", storage_bytes=MIB).caveats
    device = bench.shell("df --output=source {workdir} | tail -n 1").stdout.strip()
    said = Path(f"/sys/block/{Path(device).name}/loop/dio").read_text(encoding="utf-8")
    assert said.strip() == "1"


@needs_root
@pytest.mark.parametrize(
    ("platform", "how"),
    [
        ("local", None),
        ("local", signal.SIGTERM),
        ("local", signal.SIGKILL),
        pytest.param("netns", signal.SIGKILL, marks=pytest.mark.netns),
    ],
)
def test_it_is_gone_after_every_exit(tmp_path, platform, how):
    _needs("ext4")
    options = '{"filesystem": {"type": "loop-ext4"}}'
    with subprocess.Popen(
        [sys.executable, "-c", KEEPS, platform, options, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout.readline().startswith("/dev/loop")
        assert len(_loops_of(tmp_path)) == 1
        if how is None:
            child.stdin.close()
        else:
            child.send_signal(how)
    until(lambda: not _loops_of(tmp_path))
    # What is left of a killed one's scratch folder is no mount and holds no image.
    left = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert left < MIB


def test_only_root_can_mount(monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    available = availability_of(_spec(filesystem={"type": "loop-ext4"}))
    assert not available.ok
    assert "'loop-ext4'" in available.reason
    assert "io_folder" in available.hint


def test_local_changes_nothing(open_bench, tmp_path):
    bench = open_bench("local", filesystem={"type": "local"}, io_folder=tmp_path)
    assert bench.allocation.mounted is None
    assert bench.allocation.work_folder() == str(tmp_path)


@pytest.mark.parametrize(
    ("chosen", "key"),
    [
        ({"type": "ext4"}, "filesystem"),
        ({"type": "virtiofs"}, "filesystem"),
        ({"type": "loop-xfs", "size_bytes": MIB}, "size_bytes"),
        ({"type": "tmpfs", "direct": True}, "direct"),
        ({"type": "tmpfs", "options": "a b; c"}, "options"),
    ],
)
def test_wrong_options_are_refused(chosen, key):
    with raises(PlatformError, "BL-PLATFORMS-613", key):
        _spec(filesystem=chosen)
