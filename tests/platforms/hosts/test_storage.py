"""I/O probes on file systems that are full, read-only, slow, or no device; and what they leave."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bareline.build.native import ensure_native
from bareline.host.cache import cache_folder, scratch_folder
from bareline.platforms.hosts import workdir
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.probes.base import find_probe
from bareline.session.judge import judge_output
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BarelineError, PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Measured

MIB = 1 << 20
TOGETHER = ("io.parallel", "io.metadata")  # probes of all ranks
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")


@pytest.fixture
def mount():
    """Mount a tmpfs in a mount namespace of its own: ``mount("size=8m")`` gives its folder."""
    with contextlib.ExitStack() as stack:

        def make(options):
            script = 'mount -t tmpfs -o "$1" none /mnt && echo ready && exec cat'
            holder = stack.enter_context(
                subprocess.Popen(
                    ["unshare", "--mount", "sh", "-c", script, "sh", options],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            if holder.stdout.readline() != "ready\n":
                pytest.skip(f"cannot mount here: {holder.stderr.read().strip()}")
            return Path(f"/proc/{holder.pid}/root/mnt")

        yield make


@pytest.fixture(scope="module")
def native():
    """Give the folder of the native programs."""
    try:
        mpi = find_mpi("auto")
    except PlatformError:
        mpi = None
    try:
        return Path(ensure_native(mpi, cache_folder()))
    except BarelineError as error:
        pytest.skip(str(error))


def run(bench, name, *, timeout_s=60, **params):
    """Run a probe; give what became of it and the caveats of the trial."""
    probe = find_probe(name)
    checked = probe.make_params(params)
    layout = bench.two_ranks if name in TOGETHER else Layout()
    command = probe.command(checked, layout)
    output = bench.run(
        *command.argv,
        storage_bytes=command.storage_bytes,
        timeout_s=timeout_s,
        mpi=command.mpi,
        layout=layout,
    )
    judged = judge_output(probe, checked, output, timeout_s)
    return judged.outcome, (*output.caveats, *judged.caveats)


SMALL = {"file_bytes": MIB, "min_block_bytes": 65536, "max_block_bytes": 65536}


@needs_root
def test_files_in_memory_carry_their_caveats(open_bench, mount, native):
    bench = open_bench("local", io_folder=mount("size=8m"))
    outcome, caveats = run(bench, "io.sequential", **SMALL)
    assert isinstance(outcome, Measured)
    assert "memory-file-system" in caveats
    rates = {s.metric: s.caveats for s in outcome.samples if s.metric.endswith("_rate")}
    assert rates == {"write_rate": (), "read_rate": ("page-cache",), "cached_read_rate": ()}


@needs_root
def test_direct_io_without_a_device_is_refused(open_bench, mount, native):
    folder = mount("size=8m")
    outcome, _ = run(open_bench("local", io_folder=folder), "io.sequential", mode="direct", **SMALL)
    assert "--mode buffered or another folder" in outcome.reason
    assert list(folder.iterdir()) == []


@needs_root
@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("io.sequential", {"file_bytes": 64 * MIB}),
        ("io.create", {"files": 2000, "file_bytes": 65536}),
        ("io.fio", {"size": 64 * MIB}),
        ("io.parallel", {"block_bytes": 32 * MIB}),
        ("io.metadata", {"items": 1000, "file_bytes": 65536}),
    ],
)
def test_space_is_checked_before_anything_is_written(open_bench, mount, native, name, params):
    folder = mount("size=8m")
    with raises(PlatformError, "BL-PLATFORMS-191", "8388608"):
        run(open_bench("local", io_folder=folder), name, **params)
    assert list(folder.iterdir()) == []


@needs_root
def test_a_file_system_that_fills_up_meanwhile_ends_it(mount, native):
    folder = mount("size=64m")
    hog = folder / "hog"
    line = [str(native / "iobench"), "sequential", "--folder", str(folder), "--size", "60M"]
    blocks = ",".join(str(4096 * count) for count in range(1, 33))
    with (
        subprocess.Popen(
            [*line, "--blocks", blocks], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process,
        hog.open("wb", buffering=0) as file,
    ):
        assert '"iobench"' in process.stdout.readline()
        while process.poll() is None:
            with contextlib.suppress(OSError):
                file.write(bytes(MIB))
        assert process.returncode == 1
        assert "No space left on device, take less data" in process.stderr.read()
    assert list(folder.iterdir()) == [hog]


@needs_root
def test_a_file_system_that_becomes_read_only_is_named(open_bench, mount, native):
    folder = mount("size=8m")
    bench = open_bench("local", io_folder=folder)
    holder = folder.parts[2]
    subprocess.run(
        ["nsenter", f"--target={holder}", "--mount", "mount", "-o", "remount,ro", "/mnt"],
        check=True,
    )
    with raises(PlatformError, "BL-PLATFORMS-988", "Read-only"):
        run(bench, "io.sequential", **SMALL)
    done = subprocess.run(
        [native / "iobench", "create", "--folder", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "it is mounted read-only, take another folder" in done.stderr


@needs_root
@pytest.mark.parametrize("kind", ["local", pytest.param("netns", marks=pytest.mark.netns)])
def test_a_read_only_folder_is_refused_at_once(acquire, mount, kind):
    with (
        raises(PlatformError, "BL-PLATFORMS-770"),
        acquire(kind, io_folder=mount("size=1m,ro")),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("io.create", {"files": 100_000, "file_bytes": 0, "directories": 100}),
        ("io.fio", {"size": 1 << 30, "bs": 512, "direct": False}),
        ("io.metadata", {"items": 1_000_000, "file_bytes": 0}),
    ],
)
def test_a_slow_file_system_ends_with_the_time_limit(open_bench, tmp_path, native, name, params):
    folder = tmp_path / "measured"
    folder.mkdir()
    bench = open_bench("local", io_folder=folder)
    outcome, _ = run(bench, name, timeout_s=0.3, **params)
    assert outcome.stage == "timeout"
    assert list(folder.iterdir()) == []


@pytest.mark.netns
def test_hosts_work_in_the_folder_that_is_to_be_measured(open_bench, tmp_path):
    bench = open_bench("netns", io_folder=tmp_path)
    assert bench.shell("cd {workdir}; pwd", node=-1).stdout.startswith(f"{tmp_path}/")


def caveats_of(outcome, metric):
    assert isinstance(outcome, Measured), outcome
    (sample,) = (sample for sample in outcome.samples if sample.metric == metric)
    return set(sample.caveats)


@pytest.mark.netns
@pytest.mark.parametrize("name", TOGETHER)
def test_two_nodes_write_into_the_folder_that_they_share(open_bench, tmp_path, native, name):
    bench = open_bench("netns", io_folder=tmp_path)
    outcome, _ = run(bench, name)
    # Both namespaces are on one kernel, whose page cache is known; no file server is in between.
    assert caveats_of(outcome, f"{'write' if name == 'io.parallel' else 'create'}_rate") == {
        "too-short"
    }
    assert "own-data" not in caveats_of(outcome, "read_rate")
    assert list(tmp_path.glob("bareline-work-*")) == []


@pytest.mark.netns
@needs_root
@pytest.mark.slow
def test_nodes_whose_folders_are_not_the_same_are_told(open_bench, tmp_path, native):
    bench = open_bench("netns", io_folder=tmp_path)
    mounted = bench.shell(f"mount -t tmpfs -o size=64m none {tmp_path}", node=1)
    if mounted.exit_code:
        pytest.skip(f"cannot mount within a namespace here: {mounted.stderr.strip()}")
    outcome, _ = run(bench, "io.parallel", block_bytes=MIB)
    assert "is a folder of its own on each node, take one that all nodes share" in outcome.reason
    alone = {"files": "own", "readers": "same"}
    outcome, _ = run(bench, "io.parallel", block_bytes=MIB, **alone)
    assert caveats_of(outcome, "write_rate") == {"node-local", "too-short"}
    outcome, _ = run(bench, "io.metadata", **alone)
    assert "node-local" in caveats_of(outcome, "create_rate")
    assert list(tmp_path.glob("bareline-work-*")) == []


_KILLED = """
import sys
from pathlib import Path
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout
from bareline.platforms.base import Context, PlatformSpec
from bareline.platforms.localhost.local import LocalOptions, LocalPlatform
here = Path(sys.argv[1])
spec = PlatformSpec("p", "local", LocalOptions(io_folder=here))
platform = LocalPlatform(spec, Context(here, here))
with platform.acquire(Layout()) as allocation:
    script = "touch {workdir}/file; echo begun >&2; exec sleep 60"
    command = Command(argv=("sh", "-c", script), env=((TRIAL_VARIABLE, "killed-1"),))
    allocation.run(command, Layout(), timeout_s=60)
"""


def test_what_a_killed_bareline_left_is_removed_at_the_next_use(open_bench, tmp_path, monkeypatch):
    with subprocess.Popen([sys.executable, "-c", _KILLED, str(tmp_path)]) as process:
        deadline = time.monotonic() + 240
        while not list(tmp_path.glob("*/file")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    (left,) = tmp_path.glob("*/file")
    monkeypatch.setattr(workdir, "MEMORY", tmp_path / "memory")
    mark = left.parent.name.removeprefix("bareline-work-")
    session = Path(workdir.session_folder(mark))
    session.mkdir(parents=True)
    ours = tmp_path / workdir.folder_name("other-1")
    ours.mkdir()
    strange = tmp_path / "mine"
    strange.mkdir()
    bench = open_bench("local", io_folder=tmp_path)
    bench.shell("cd {workdir}")
    assert not left.parent.exists()
    assert not session.exists()
    assert ours.exists(), "what is in use must stay"
    assert strange.exists(), "what is not ours must stay"


def test_scratch_folders_of_killed_barelines_are_removed(monkeypatch, tmp_path):
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path))
    with subprocess.Popen(["true"]) as process:
        pass
    with scratch_folder("first") as first, scratch_folder("left") as left:
        owner = left / ".owner"
        owner.write_text(owner.read_text().replace(str(os.getpid()), str(process.pid)))
        with scratch_folder("second"):
            assert first.exists()
            assert not left.exists()


def test_other_commands_ask_nothing_of_the_file_system(open_bench, tmp_path):
    """A mark keeps the name of the folder apart; nothing is looked at without `storage_bytes`."""
    allocation = open_bench("local", io_folder=tmp_path).allocation
    command = Command(argv=("ls", "-d", "{workdir}"), env=((TRIAL_VARIABLE, "run-7"),))
    output = allocation.run(command, Layout(), timeout_s=10)
    assert output.stdout.strip().endswith("-run-7")
    assert not {"host-cache", "memory-file-system"} & set(output.caveats)
