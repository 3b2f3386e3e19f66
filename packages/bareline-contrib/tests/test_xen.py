"""Definitions of Xen's guests: each is valid by libvirt's schema, and what is QEMU's is refused."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from bareline_contrib import xen
from bareline_contrib.xen import XenOptions, XenPlatform
from pydantic import ValidationError

from bareline.platforms.config import make_spec
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.platform import PlatformSpec

SCHEMA = Path("/usr/share/libvirt/schemas/domain.rng")
PARTS = {
    "nic": [
        *({"model": model} for model in ("e1000", "rtl8139", "virtio")),
        {"mtu": 9000},
        {"attach": "vf", "addresses": ["3b:02.0", "0000:3b:02.1"], "vlan": 42},
    ],
    "cpu": [{}, {"count": 4, "sockets": 2, "threads": 2}, {"count": 2, "pin": "spread"}],
    "clock": [{}, {"source": "tsc", "tsc": "native"}],
    "disk": [{}, {"cache": "none", "discard": True}],
    "image": ["auto", {"path": "/images/cloud.qcow2"}],
}


def definition(**table) -> str:
    return XenPlatform.definition(PlatformSpec("x", "xen", XenOptions.model_validate(table)))


@pytest.mark.skipif(shutil.which("xmllint") is None, reason="xmllint is not installed")
@pytest.mark.skipif(not SCHEMA.exists(), reason="libvirt's schemas are not installed")
def test_definitions_of_all_options_are_valid(tmp_path):
    written = []
    for (first, some), (second, others) in itertools.combinations(PARTS.items(), 2):
        for one, other in itertools.product(some, others):
            for acceleration in ("auto", "kvm"):
                path = tmp_path / f"{len(written)}.xml"
                text = definition(**{first: one, second: other}, acceleration=acceleration)
                path.write_text(text)
                written.append(str(path))
    assert len(written) > 100
    line = ["xmllint", "--noout", "--relaxng", str(SCHEMA), *written]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    wrong = [line for line in done.stderr.splitlines() if not line.endswith(" validates")]
    assert done.returncode == 0, "\n".join(wrong[:10])


def test_xen_has_paravirtual_devices_of_its_own_and_emulated_ones_in_a_full_guest():
    own = ET.fromstring(definition())
    assert own.get("type") == "xen"
    assert own.find("os/type").text == "xenpvh" and own.find("os/kernel").text
    assert "root=/dev/xvda" in own.find("os/cmdline").text
    assert own.find("devices/interface/model").get("type") == "netfront"
    assert own.find("devices/disk/target").attrib == {"dev": "xvda", "bus": "xen"}
    assert own.find("cpu").get("mode") == "host-passthrough"
    assert own.find("devices/console/target").get("type") == "xen"
    assert own.find("devices/video") is None and own.find("devices/controller") is None
    emulated = ET.fromstring(definition(nic={"model": "e1000"}))
    assert emulated.find("os/type").text == "hvm"
    assert emulated.find("devices/serial") is not None
    cloud = ET.fromstring(definition(image={"path": "/x"}))
    assert cloud.find("os/type").text == "hvm"
    targets = [target.attrib for target in cloud.findall("devices/disk/target")]
    assert targets == [{"dev": name, "bus": "xen"} for name in ("xvda", "xvdz")]


@pytest.mark.parametrize(
    ("table", "named"),
    [({"disk": {"bus": "scsi"}}, 'bus = "scsi"'), ({"nic": {"queues": 2}}, "nic.queues")],
)
def test_what_is_qemus_alone_is_refused(table, named):
    with pytest.raises(ValidationError, match=named):
        XenOptions.model_validate(table)


def test_xens_guests_are_refused_with_what_to_do(tmp_path, monkeypatch):
    spec = make_spec("x", {"type": "xen"}, where="test")

    def refusal():
        with pytest.raises(PlatformError) as caught:
            XenPlatform.check(spec)
        return str(caught.value)

    capabilities, driver = tmp_path / "capabilities", tmp_path / "libvirt_driver_libxl.so"
    monkeypatch.setattr(xen, "_CAPABILITIES", capabilities)
    monkeypatch.setattr(xen, "_LIBXL", (driver,))
    assert "boot Xen's entry" in refusal()
    capabilities.write_text("control_d\n")
    assert "libvirt-daemon-driver-xen" in refusal()
    driver.touch()
    assert "--xml" in refusal()
