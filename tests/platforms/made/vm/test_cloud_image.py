"""A cloud image boots by its own boot loader and becomes a node through cloud-init."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from bareline.host.cache import cache_folder
from bareline.vocabulary.model import Layout

pytestmark = [
    pytest.mark.vm,
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed"),
    pytest.mark.skipif(shutil.which("genisoimage") is None, reason="genisoimage is not installed"),
]


@pytest.fixture(scope="module")
def image(tmp_path_factory) -> Path:
    # Tests are imported by path, so their neighbours are no modules of a package.
    path = Path(__file__).with_name("cloud_image.py")
    spec = importlib.util.spec_from_file_location("cloud_image", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.cloud_image(cache_folder(), tmp_path_factory.mktemp("cloud"))


def test_a_cloud_image_becomes_a_node(open_guests, image):
    before = image.stat()
    with open_guests(
        nodes=1,
        acceleration="tcg",
        image={"path": str(image)},
        nic={"mtu": 4000},
        memory={"size_bytes": "1GiB"},
        cpu={"count": 2},
        boot_timeout_s=600,
        attempts=1,
        mpi="openmpi",
    ) as bench:
        assert bench.said("hostname") == "g1"
        assert bench.said("cat /sys/class/net/net0/mtu") == "4000"
        assert bench.said("cat /proc/1/comm") == "systemd"
        assert "bareline" in bench.said("cat /root/.ssh/authorized_keys")
        names = bench.run("hostname", mpi=True, layout=Layout(1, 2, 1))
        assert names.stdout.split() == ["g1", "g1"], names.stderr
        assert bench.allocation.mpi.version.startswith("4.")
    after = image.stat()
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)
