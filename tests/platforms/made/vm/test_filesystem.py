"""The file system of guests: what becomes a share, what a guest of its own, what is refused."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pydantic import ValidationError

from bareline.platforms.config import make_spec
from bareline.platforms.made.vm.filesystem import TARGET, exported, with_share
from bareline.platforms.made.vm.guest import SERVER, make_guests, settings_files
from bareline.platforms.made.vm.options import VmOptions
from bareline.platforms.made.vm.platform import VmPlatform
from bareline.platforms.reached.remote.keys import Keys
from bareline.testing.messages import raises

KEYS = Keys("client key", "ssh-ed25519 AAAAclient bareline", "host key", "ssh-ed25519 AAAAhost b")


def _options(**filesystem):
    return VmOptions.model_validate({"filesystem": filesystem})


@pytest.mark.parametrize(
    ("filesystem", "line"),
    [
        (
            {"type": "9p", "cache": "mmap", "msize_bytes": 131072},
            f"9p share0 {TARGET} rw,trans=virtio,version=9p2000.L,cache=mmap,msize=131072",
        ),
        ({"type": "virtiofs"}, f"virtiofs share0 {TARGET} rw"),
        (
            {"type": "nfs", "server": "host", "version": "4.1", "options": "wsize=65536"},
            f"nfs4 10.94.7.1:/share0 {TARGET} rw,vers=4.1,hard,wsize=65536",
        ),
    ],
)
def test_what_lies_on_the_host_is_mounted_while_guests_boot(filesystem, line):
    options = with_share(_options(**filesystem), Path("/data"))
    guests = make_guests(options, 1)
    mounts = settings_files(options, guests[0], guests, KEYS)["shares"].content.decode()
    assert mounts == line + "\n"
    assert [one.path for one in exported(options.shares)] == (
        ["/data"] if filesystem["type"] == "nfs" else []
    )


@pytest.mark.parametrize("kind", ["tmpfs", "loop-ext4", "gluster", "local"])
def test_what_lies_in_guests_is_no_share(kind):
    assert with_share(_options(type=kind), Path("/data")).shares == ()


def test_a_share_shows_in_the_definition():
    table = {"type": "vm", "filesystem": {"type": "virtiofs", "cache": "always"}}
    definition = ET.fromstring(VmPlatform.definition(make_spec("v", table, where="t")))
    found = definition.find("devices/filesystem")
    assert found.find("driver").get("type") == "virtiofs"
    assert found.find("binary/cache").get("mode") == "always"


def test_a_server_of_its_own_is_a_guest_more():
    options = _options(type="nfs", server="own")
    *nodes, server = make_guests(options, 2)
    assert [guest.name for guest in nodes] == ["g1", "g2"]
    assert (server.name, server.tenant, server.address) == ("server", SERVER, "10.94.7.13")
    assert (options.node_count, options.guest_total) == (2, 3)
    assert _options(type="nfs", server="node").guest_total == 2


def test_a_guest_that_mounts_cannot_be_saved():
    with raises(ValidationError, "BL-PLATFORMS-771"):
        VmOptions.model_validate({"filesystem": {"type": "tmpfs"}, "saved_state": True})
