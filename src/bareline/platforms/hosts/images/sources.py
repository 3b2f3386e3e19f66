"""Package sources of the host and of other releases, from which root file systems are built."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from bareline.platforms.hosts.process import run_process
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.files import replace_file

#: Names that differ between distributions: the first name in the host's sources is used.
_ALTERNATIVES: Mapping[str, tuple[str, ...]] = {
    "libopenmpi3": ("libopenmpi3t64", "libopenmpi40"),
    "libmpich12": ("libmpich12t64",),
    "libscalapack-openmpi2.2": ("libscalapack-openmpi2.2t64", "libscalapack-openmpi2.1"),
    "libscalapack-mpich2.2": ("libscalapack-mpich2.2t64", "libscalapack-mpich2.1"),
}
#: How long another apt (an automatic upgrade, another bareline) may lock the package lists.
_APT_WAIT_S = 300.0
_APT_LOOK_S = 1.0
#: Time for which the package lists of another release need no update.
_LISTS_S = 86_400.0


def package_sources(suite: str) -> str:
    """Return the host's own package sources, one per line.

    These sources are used for guests, which must run the same release as the host.
    """
    lines = _listed_sources(suite)
    if not lines and os.geteuid() == 0:
        # Container images come without package lists.
        lines = _updated_sources(suite)
    if not lines:
        raise PlatformError(
            f"the package sources of this host list nothing for '{suite}'",
            where='image = "auto"',
            hint="run `apt-get update` and see that it succeeds",
        )
    return "".join(f"{line}\n" for line in sorted(lines))


def _updated_sources(suite: str) -> set[str]:
    """Update the package lists and return their sources.

    If another apt process runs, wait for its end, because apt would fail at once.
    """
    deadline = time.monotonic() + _APT_WAIT_S
    while True:
        try:
            _ask(["apt-get", "update", "-q"])
            return _listed_sources(suite)
        except PlatformError as error:
            if "Could not get lock" not in error.what or time.monotonic() > deadline:
                raise
            time.sleep(_APT_LOOK_S)


def _listed_sources(suite: str) -> set[str]:
    columns = "$(CREATED_BY)|$(CODENAME)|deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    targets = _ask(["apt-get", "indextargets", "--format", columns]).splitlines()
    parts = (line.split("|", 2) for line in targets)
    return {
        source
        for created_by, codename, source in parts
        if created_by == "Packages" and codename.partition("-")[0] == suite
    }


@dataclass(frozen=True, slots=True)
class Archive:
    """A release of the host's distribution, whose packages apt can list and download.

    - `text`: its package sources, one per line.
    - `options`: options that restrict apt to these sources; empty for the host's own release.
    """

    suite: str
    text: str
    options: tuple[str, ...] = ()

    def known_names(self, packages: Iterable[str], ours: Collection[str]) -> list[str]:
        """Return the names of packages in this release; other releases may use other names.

        - `ours`: the packages that every image has; `packages` also contains the user's packages.
        """
        names = {package: (package, *_ALTERNATIVES.get(package, ())) for package in packages}
        listed = self.show(chain(*names.values()))
        chosen = []
        for package, wanted in names.items():
            name = next((name for name in wanted if name in listed), None)
            if name is None:
                raise PlatformError(
                    f"the package sources of '{self.suite}' have no '{package}'",
                    where='image = "auto"' if package in ours else "packages",
                    hint="run `apt-get update`; on Ubuntu the component 'universe' must be enabled",
                )
            chosen.append(name)
        return chosen

    def show(self, packages: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the fields of the newest version of each package, by package name.

        A package that the release does not have is left out.
        """
        argv = ["apt-cache", *self.options, "show", "--no-all-versions", *packages]
        fields_by_name: dict[str, dict[str, str]] = {}
        for paragraph in _ask(argv, check=False).split("\n\n"):
            lines = [line.partition(": ") for line in paragraph.splitlines()]
            fields = {key: value for key, colon, value in lines if colon and key[:1] != " "}
            if "Package" in fields:
                fields_by_name[fields["Package"]] = fields
        return fields_by_name

    def must_run_what_is_built_here(self) -> None:
        """Check that programs built on this host can run on the release."""
        there = self.show(["libc6"]).get("libc6", {}).get("Version", "").partition("-")[0]
        here = platform.libc_ver()[1]
        if there and here and _ordered(there) < _ordered(here):
            raise PlatformError(
                f"programs built on this host need version {here} of the C library, but"
                f" '{self.suite}' has version {there}",
                where="release",
                hint="choose a release as new as the host's; only the kernel can be of an older "
                f'release: kernel = "linux-image-amd64/{self.suite}"',
            )

    def download(self, package: str, folder: Path) -> Path:
        """Download a package's file into a folder, and return its path."""
        before = set(folder.glob("*.deb"))
        _ask(["apt-get", *self.options, "download", "-q", package], cwd=folder)
        (file,) = set(folder.glob("*.deb")) - before
        return file


def host_suite() -> str:
    """Return the code name of the host's release."""
    return platform.freedesktop_os_release().get("VERSION_CODENAME", "")


def archive_of(release: str | None, cache_folder: Path) -> Archive:
    """Return the packages of a release; by default, those of the host's release.

    For another release, apt uses the host's mirrors and keys, and stores the package lists in the
    cache folder.
    """
    suite = host_suite()
    text = package_sources(suite)
    if release is None or release == suite:
        return Archive(suite, text)
    folder = cache_folder / "vm" / "apt" / release
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    sources = re.sub(rf"(?m)( ){re.escape(suite)}(?=[-/ ])", rf"\g<1>{release}", text)
    listed = folder / "sources.list"
    is_listed = listed.exists() and listed.read_text(encoding="utf-8") == sources
    replace_file(listed, sources, durable=False)
    archive = Archive(release, sources, _private(folder))
    if (
        not is_listed
        or time.time() - listed.stat().st_mtime > _LISTS_S
        or not archive.show(["libc6"])
    ):
        try:
            _ask(["apt-get", *archive.options, "update", "-q"])
        except PlatformError as error:
            listed.unlink()
            raise PlatformError(
                f"the host's package sources have no release '{release}': {error.what}",
                where="release",
                hint="name a release that they have, such as bookworm, and see that the host has "
                "its keys (package debian-archive-keyring)",
            ) from error
    return archive


def _private(folder: Path) -> tuple[str, ...]:
    """Return options that make apt use only a folder's sources and lists.

    apt then also ignores the packages that are installed on the host.
    """
    settings = {
        "Dir::State": folder,
        "Dir::State::status": "/dev/null",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "APT::Sandbox::User": "root",
    }
    return tuple(f"-o{key}={value}" for key, value in settings.items())


def _ordered(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def _ask(argv: list[str], *, check: bool = True, cwd: Path | None = None) -> str:
    environment = {**os.environ, "LC_ALL": "C"}
    ended = subprocess.run(
        argv, capture_output=True, text=True, check=False, env=environment, cwd=cwd
    )
    if check and ended.returncode:
        command = [word for word in argv if not word.startswith("-o")][:2]
        raise PlatformError(f"`{' '.join(command)}` failed: {ended.stderr.strip()}")
    return ended.stdout


def proxy_options() -> list[str]:
    """Return the options that make the apt of mmdebstrap use the host's proxies."""
    lines = map(str.rstrip, _ask(["apt-config", "dump", "Acquire"]).splitlines())
    proxies = (line for line in lines if "::Proxy" in line and not line.endswith('"";'))
    return [f"--aptopt={line.rstrip(';')}" for line in proxies]


#: Programs of the probes, in guests and in containers. They include both MPI libraries, so that one
#: image serves every platform.
PROGRAMS = (
    *("openmpi-bin", "libopenmpi3", "mpich", "libmpich12"),
    *("nuttcp", "iperf3", "hpcc", "fio", "numactl", "perftest", "ibverbs-providers"),
    *("libopenblas0-pthread", "liblapack3", "libscalapack-openmpi2.2"),
    *("libscalapack-mpich2.2", "libfftw3-double3"),
    *("libgomp1", "libgfortran5"),
)
_TIMEOUT_S = 1800.0
_WORKPLACES = Path("/var/tmp")
_WORKPLACE = "bareline-image-"


def remove_workplace(note: Path) -> None:
    """Remove the work folder of a killed build; the file `note` contains the folder's path."""
    left = Path(note.read_text(encoding="utf-8"))
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
    # A build outside of a namespace of its own leaves /proc and /sys mounted there.
    ours = left.parent == _WORKPLACES and left.name.startswith(_WORKPLACE)
    if ours and f" {left}/" not in mounts:
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def workplace(note: Path) -> Iterator[Path]:
    """Make a folder for a build, and remove the folder at the end.

    The folder that a killed build left behind is removed first.

    Without root, mmdebstrap works as another user, who cannot reach a private cache folder. The
    folder is therefore outside of the cache, and a file in the cache contains its path.
    """
    if note.exists():
        remove_workplace(note)
    with tempfile.TemporaryDirectory(dir=_WORKPLACES, prefix=_WORKPLACE) as name:
        replace_file(note, name, durable=False)
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
    """Build a root file system at `target` with mmdebstrap.

    If `target` is "-", mmdebstrap keeps no file system; a hook in `more` copies the files.
    """
    sources = place / "out" / "sources.list"
    replace_file(sources, archive.text, durable=False)
    argv = ["mmdebstrap", "--variant=minbase", *more]
    mode = "root" if os.geteuid() == 0 else "unshare"
    argv.append(f"--mode={mode}")
    argv += [f"--include={','.join(names)}", *proxy_options()]
    argv += [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in ("man", "doc", "locale")]
    argv += ["--dpkgopt=force-unsafe-io", archive.suite, target, str(sources)]
    # The guest boots with an initramfs of our own: the kernel's package need not make one.
    environment = {**os.environ, "LC_ALL": "C", "INITRD": "No", "TMPDIR": str(place / "tmp")}
    ended = run_process(_ending_with_us(argv), env=environment, timeout_s=_TIMEOUT_S)
    if ended.timed_out:
        raise PlatformError(
            f"building the image took more than {_TIMEOUT_S:.0f} s",
            where=str(log),
            hint="see that this host reaches its package sources",
        )
    replace_file(log, ended.stdout + ended.stderr, durable=False)
    if ended.exit_code:
        errors = [line for line in ended.stderr.splitlines() if line.strip().startswith("E: ")]
        hint = "check that this host reaches its package sources: `apt-get update`"
        if any(word in ended.stderr for word in ("subuid", "newuidmap", "unshare")):
            hint = "without root it needs user namespaces and `newuidmap` (package uidmap); or run "
            hint += "as root"
        why = " / ".join(errors[-3:]) or f"exit code {ended.exit_code}"
        raise PlatformError(f"mmdebstrap failed: {why}", where=str(log), hint=hint)


def _ending_with_us(argv: list[str]) -> list[str]:
    """Return the command line of a build that ends when bareline ends.

    If bareline runs as root, the build runs in a new process namespace. Without root, mmdebstrap
    makes such a namespace itself.
    """
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return argv
    return ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--", *argv]
