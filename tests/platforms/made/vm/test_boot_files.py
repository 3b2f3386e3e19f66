"""Kernel and initramfs: unpacked, ordered and packed as Linux wants them."""

from __future__ import annotations

import gzip
import lzma
import shutil
import subprocess

import pytest

from bareline.platforms.made.vm.kernel import File, archive, load_order, read_module, unpack_kernel
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

ELF = b"\x7fELF" + bytes(range(256)) * 40


@pytest.mark.parametrize(
    "pack",
    [
        lambda data: lzma.compress(data, check=lzma.CHECK_CRC32),
        gzip.compress,
        pytest.param(
            lambda data: (
                subprocess.run(["zstd", "-c"], input=data, capture_output=True, check=True).stdout
            ),
            marks=pytest.mark.skipif(shutil.which("zstd") is None, reason="zstd not installed"),
        ),
    ],
    ids=["xz", "gzip", "zstd"],
)
def test_a_kernel_is_found_between_code_and_decoys(pack):
    decoy = b"\x1f\x8b\x08 and \xfd7zXZ\x00 that are no streams"
    assert unpack_kernel(b"MZ" + decoy + pack(ELF) + b"trailing code") == ELF


def test_an_unpacked_kernel_stays_as_it_is():
    assert unpack_kernel(ELF) == ELF


def test_what_holds_no_kernel_is_refused():
    with raises(PlatformError, "BL-PLATFORMS-619"):
        unpack_kernel(b"MZ" + gzip.compress(b"not a kernel"))


@pytest.fixture
def modules(tmp_path):
    (tmp_path / "modules.builtin").write_text("kernel/drivers/virtio/virtio.ko\n")
    (tmp_path / "modules.dep").write_text(
        "kernel/net/virtio-net.ko.xz: kernel/net/net_failover.ko kernel/net/failover.ko\n"
        "kernel/net/net_failover.ko: kernel/net/failover.ko\n"
        "kernel/net/failover.ko:\n"
    )
    return tmp_path


def test_modules_come_after_all_they_need(modules):
    order = [path.name for path in load_order(modules, ["virtio", "virtio_net", "failover"])]
    assert order == ["failover.ko", "net_failover.ko", "virtio-net.ko.xz"]


def test_a_module_that_the_kernel_does_not_have_is_named(modules):
    with raises(PlatformError, "BL-PLATFORMS-373", "e1000"):
        load_order(modules, ["e1000"])


def test_packed_modules_are_unpacked(tmp_path):
    path = tmp_path / "x.ko.xz"
    path.write_bytes(lzma.compress(b"code"))
    assert read_module(path) == b"code"


@pytest.mark.skipif(shutil.which("cpio") is None, reason="cpio is not installed")
def test_cpio_reads_what_was_written(tmp_path):
    files = {
        "init": File(b"#!/bin/sh\n", 0o755),
        "a/b/empty": File(b""),
        "a/b/odd name": File(b"123", 0o600),
    }
    packed = archive(files, ("dev", "proc"))
    subprocess.run(
        ["cpio", "-id", "--quiet"], input=packed, cwd=tmp_path, check=True, capture_output=True
    )
    assert {path.name for path in tmp_path.iterdir()} == {"init", "a", "dev", "proc"}
    for name, file in files.items():
        path = tmp_path / name
        assert path.read_bytes() == file.content
        assert path.stat().st_mode & 0o777 == file.mode
