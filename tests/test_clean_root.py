"""`scripts/clean_root.sh`: what it refuses, and that it leaves nothing behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from bareline.testing.bench import until

SCRIPT = Path(__file__).parents[1] / "scripts" / "clean_root.sh"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make mounts")
makes_roots = pytest.mark.skipif(
    shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed"
)


def call(*words, path=None):
    env = {**os.environ, **({"PATH": str(path)} if path else {})}
    line = [shutil.which("bash"), SCRIPT, *words]
    return subprocess.run(line, env=env, capture_output=True, text=True, check=False)


@needs_root
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "no SUITE given, one of: bookworm trixie"),
        (("woody", "true"), "'woody' is not a suite; one of: bookworm trixie"),
        (("bookworm",), "no COMMAND given, for example"),
        (("--shared", "bookworm", "true"), "no option is called --shared"),
        (("--share", "/etc/passwd", "bookworm", "true"), "/etc/passwd is not a folder"),
        (("--enter", "/etc", "true"), "/etc has no /root/bareline; make one"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_made(words, reason):
    refusal = call(*words)
    assert refusal.returncode == 2
    assert reason in refusal.stderr
    assert refusal.stdout == ""


@needs_root
def test_a_missing_program_is_named_with_its_package(tmp_path):
    for program in ("dirname", "grep", "id", "unshare"):
        (tmp_path / program).symlink_to(shutil.which(program))
    refusal = call("bookworm", "true", path=tmp_path)
    assert refusal.returncode == 2
    assert "mmdebstrap is not installed: apt-get install mmdebstrap" in refusal.stderr


@needs_root
def test_without_root_it_says_how():
    """The script comes from standard input: another user may not read the clone."""
    line = ["setpriv", "--reuid=65534", "--clear-groups", "bash", "-s", "--", "bookworm", "make"]
    with SCRIPT.open() as script:
        refusal = subprocess.run(
            line, stdin=script, cwd="/", capture_output=True, text=True, check=False
        )
    assert refusal.returncode == 2
    assert "only root can make mounts and install packages" in refusal.stderr
    assert refusal.stderr.endswith("bookworm make\n")


def test_the_help_shows_commands():
    assert "scripts/clean_root.sh bookworm make test" in call("--help").stdout


@pytest.fixture
def waiting(tmp_path):
    """Start a clean root in which a command waits; gives the process and the folder of the root."""
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    # Under nohup SIGHUP is ignored, and a shell cannot change what it ignored at its start.
    # Mounts of the test are seen in no other mount namespace.
    line = ["env", "--default-signal", "unshare", "--mount", "bash", SCRIPT, "trixie"]
    line += ["sh", "-c", "touch /up; sleep 1000"]
    with subprocess.Popen(line, env=env, stderr=subprocess.PIPE, text=True) as child:
        until(lambda: list(tmp_path.glob("*/up")) or child.poll() is not None, 300)
        marks = list(tmp_path.glob("*/up"))
        assert marks, child.stderr.read()
        yield child, marks[0].parent
        child.kill()


def descendants(pid):
    """Return the folders in /proc of a process's children, and of theirs."""
    folders = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        folders += [Path("/proc", child), *descendants(int(child))]
    return folders


@pytest.mark.slow
@needs_root
@makes_roots
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 143)]
)
def test_an_interrupted_command_leaves_nothing(waiting, number, code):
    child, root = waiting
    inside = descendants(child.pid)
    assert any("sleep" in (process / "cmdline").read_text() for process in inside)
    child.send_signal(number)
    assert child.wait(60) == code
    assert not root.exists()
    assert not any(process.exists() for process in inside)


@pytest.mark.slow
@needs_root
@makes_roots
def test_a_root_with_a_mount_of_this_machine_is_left(waiting, tmp_path):
    child, root = waiting
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    inside = ["nsenter", "--mount", f"--target={child.pid}", "mount", "--bind"]
    subprocess.run([*inside, precious, root / "srv"], check=True)
    child.send_signal(signal.SIGTERM)
    assert child.wait(60) == 143
    assert "is not removed, because something is mounted there" in child.stderr.read()
    assert (precious / "file").exists()
    shutil.rmtree(root)
