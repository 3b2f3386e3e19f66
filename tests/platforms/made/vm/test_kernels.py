"""Kernels and releases that are not the host's: asked of apt, from an archive made for the test."""

from __future__ import annotations

import gzip
import hashlib
import shutil
import subprocess

import pytest

from bareline.platforms.hosts.images import sources
from bareline.platforms.hosts.images.sources import Archive, archive_of
from bareline.platforms.made.vm.image import AutoImage, with_kernel
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

ELF = b"\x7fELF" + bytes(range(256)) * 40
TOOLS = ("apt-get", "apt-cache", "dpkg-deb", "depmod")
pytestmark = pytest.mark.skipif(
    any(shutil.which(tool) is None for tool in TOOLS), reason="apt and kmod are not installed"
)

#: Packages of the archive: one that names the newest kernel, one that holds it, another one.
CONTROL = {
    "linux-image-amd64": "Depends: kmod, linux-image-5.10.0-9-amd64 (= 5.10.1)\n",
    "linux-image-5.10.0-9-amd64": "Depends: kmod, linux-base (>= 4.3~)\n",
    "libc6": "",
}


@pytest.fixture
def archive(tmp_path, monkeypatch):
    """Make an archive of a release 'older', beside a host of release 'newer'."""
    repository = tmp_path / "repository"
    listed = repository / "dists/older/main/binary-amd64"
    listed.mkdir(parents=True)
    described = []
    for name, more in CONTROL.items():
        root = tmp_path / name
        (root / "DEBIAN").mkdir(parents=True)
        about = (
            f"Package: {name}\nVersion: 5.10.1\nArchitecture: amd64\nMaintainer: a <a@b>\n{more}"
        )
        (root / "DEBIAN/control").write_text(f"{about}Description: one\n")
        if "5.10.0" in name:
            modules = root / "lib/modules/5.10.0-9-amd64"
            (modules / "kernel").mkdir(parents=True)
            (modules / "modules.builtin").touch()
            (modules / "modules.order").touch()
            (root / "boot").mkdir()
            (root / "boot/vmlinuz-5.10.0-9-amd64").write_bytes(b"MZ" + gzip.compress(ELF))
        file = repository / f"{name}.deb"
        subprocess.run(["dpkg-deb", "-b", root, file], check=True, capture_output=True)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        about += f"Filename: {file.name}\nSize: {file.stat().st_size}\nSHA256: {digest}\n"
        described.append(f"{about}Description: one\n")
    (listed / "Packages").write_text("\n".join(described))
    text = f"deb [trusted=yes] file:{repository} newer main\n"
    monkeypatch.setattr(sources, "package_sources", lambda suite: text)
    monkeypatch.setattr(sources, "host_suite", lambda: "newer")
    return tmp_path / "cache"


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image"
    return AutoImage(
        disk=path, kernel=path, modules=path, busybox=path, digest="d", packages={}, build_s=1.0
    )


def test_a_kernel_of_another_release_boots_the_same_disk(archive, image):
    other = with_kernel(image, "linux-image-amd64/older", None, archive)
    assert other.kernel_version == "5.10.0-9-amd64"
    assert other.kernel.read_bytes() == ELF
    assert (other.modules / "modules.dep").is_file()
    assert (other.disk, other.digest) == (image.disk, image.digest)
    again = with_kernel(image, "linux-image-amd64/older", None, archive)
    assert again.kernel == other.kernel


def test_another_release_is_known_by_its_own_names(archive):
    older = archive_of("older", archive)
    assert older.known_names(["libc6"], ["libc6"]) == ["libc6"]
    with raises(PlatformError, "BL-PLATFORMS-638", "older", "openmpi-bin"):
        older.known_names(["openmpi-bin"], [])
    assert archive_of("newer", archive).options == ()


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        ("linux-image-9.9/older", "BL-PLATFORMS-734"),
        ("linux-image-amd64/never", "BL-PLATFORMS-776"),
        ("/nowhere/vmlinuz-1", "BL-PLATFORMS-180"),
    ],
)
def test_what_is_not_there_is_said_with_what_to_do(archive, image, choice, code):
    with raises(PlatformError, code) as caught:
        with_kernel(image, choice, None, archive)
    assert caught.value.hint or "/nowhere" in str(caught.value)


def test_a_kernel_by_path_needs_its_modules(archive, image, tmp_path):
    kernel = tmp_path / "vmlinuz-6.0-mine"
    kernel.write_bytes(b"MZ" + gzip.compress(ELF))
    with raises(PlatformError, "BL-PLATFORMS-364", "6.0-mine"):
        with_kernel(image, str(kernel), None, archive)
    modules = tmp_path / "6.0-mine"
    modules.mkdir()
    (modules / "modules.dep").touch()
    own = with_kernel(image, str(kernel), str(modules), archive)
    assert own.kernel.read_bytes() == ELF and own.kernel_version == "6.0-mine"


@pytest.mark.parametrize(
    ("there", "here", "runs"),
    [
        ("2.31-13+deb11u11", "2.36", False),
        ("2.41-12", "2.36", True),
        ("2.36-9", "2.36", True),
        ("2.9-4", "2.36", False),
        ("2.36-9", "", True),
    ],
)
def test_a_release_with_an_older_c_library_is_refused(monkeypatch, there, here, runs):
    monkeypatch.setattr(sources.platform, "libc_ver", lambda: ("glibc", here))
    monkeypatch.setattr(Archive, "show", lambda *_: {"libc6": {"Version": there}})
    release = Archive("other", "")
    if runs:
        release.must_run_what_is_built_here()
    else:
        with raises(PlatformError, "BL-PLATFORMS-690", "2.36", "other"):
            release.must_run_what_is_built_here()
