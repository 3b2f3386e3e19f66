"""A new root of the host's distribution, out of the host's own package sources."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bareline.platforms.images.sources import Archive, proxy_options
from bareline.platforms.process import run_process
from bareline.vocabulary.errors import PlatformError

#: What the probes run, in guests and in containers. Both MPI libraries are in, so that one image
#: serves every platform.
PROGRAMS = (
    *("openmpi-bin", "libopenmpi3", "mpich", "libmpich12"),
    *("nuttcp", "iperf3", "hpcc", "fio", "numactl", "perftest", "ibverbs-providers"),
    *("libopenblas0-pthread", "liblapack3", "libscalapack-openmpi2.2"),
    *("libscalapack-mpich2.2", "libfftw3-double3"),
    *("libgomp1", "libgfortran5"),
)
_TIMEOUT_S = 1800.0
_WORKPLACES, _WORKPLACE = Path("/var/tmp"), "bareline-image-"


@contextmanager
def workplace(note: Path) -> Iterator[Path]:
    """Make a folder to build in, and remove the one that a killed build left.

    mmdebstrap without root works as another user, who cannot reach a private cache folder: it lies
    elsewhere, and the cache has a note of it.
    """
    if note.exists():
        left = Path(note.read_text(encoding="utf-8"))
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
        # A build outside of a namespace of its own leaves /proc and /sys mounted there.
        ours = left.parent == _WORKPLACES and left.name.startswith(_WORKPLACE)
        if ours and f" {left}/" not in mounts:
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=_WORKPLACES, prefix=_WORKPLACE) as name:
        note.write_text(name, encoding="utf-8")
        place = Path(name)
        place.chmod(0o755)
        for part in (place / "out", place / "tmp"):
            part.mkdir()
            part.chmod(0o777)
        yield place
    note.unlink()


def bootstrap(
    archive: Archive, names: Sequence[str], place: Path, target: str, more: Sequence[str], log: Path
) -> None:
    """Let mmdebstrap make a root.

    - `place`: what `workplace` gives.
    - `target`: where it goes; "-" where a hook takes what it needs.
    """
    sources = place / "out" / "sources.list"
    sources.write_text(archive.text, encoding="utf-8")
    argv = ["mmdebstrap", "--variant=minbase", *more]
    argv += ["--mode=root" if os.geteuid() == 0 else "--mode=unshare"]
    argv += [f"--include={','.join(names)}", *proxy_options()]
    argv += [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("man", "doc", "locale")]
    argv += ["--dpkgopt=force-unsafe-io", archive.suite, target, str(sources)]
    # The guest boots with an initramfs of our own: the kernel's package need not make one.
    environment = {**os.environ, "LC_ALL": "C", "INITRD": "No", "TMPDIR": str(place / "tmp")}
    done = run_process(_ending_with_us(argv), env=environment, timeout_s=_TIMEOUT_S)
    if done.timed_out:
        raise PlatformError(
            f"building the image took more than {_TIMEOUT_S:.0f} s",
            where=str(log),
            hint="see that this host reaches its package sources",
        )
    log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.exit_code:
        said = [line for line in done.stderr.splitlines() if line.strip().startswith("E: ")]
        hint = "see that this host reaches its package sources: `apt-get update`"
        if any(word in done.stderr for word in ("subuid", "newuidmap", "unshare")):
            hint = "without root it needs user namespaces and `newuidmap` (package uidmap); or run "
            hint += "as root"
        why = " / ".join(said[-3:]) or f"exit code {done.exit_code}"
        raise PlatformError(f"mmdebstrap failed: {why}", where=str(log), hint=hint)


def _ending_with_us(argv: list[str]) -> list[str]:
    """Let all that a build starts end when bareline is killed.

    Its children have process groups of their own; those of a process namespace end with its first
    process. Without root mmdebstrap makes such a namespace itself.
    """
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return argv
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--", *argv]
