"""What is known to be dead is not listed as usable, and `run` refuses it before it plans."""

from __future__ import annotations

import shutil
import socket

import pytest

from bareline.platforms.config import make_spec
from bareline.platforms.listing import platform_rows
from bareline.session.begin import refuse_unusable
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError

SLURM = """\
ClusterName=dead
SlurmctldHost=switch(127.0.0.1)
SlurmctldPort={port}
AuthType=auth/none
MessageTimeout=2
NodeName=node1
PartitionName=all Nodes=node1 Default=YES
"""
needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")


@pytest.fixture
def dead_slurm(tmp_path, monkeypatch):
    """Configure a controller that nothing answers for."""
    if shutil.which("salloc") is None:
        pytest.skip("Slurm is not installed")
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # not listened at: connections are refused
        conf = tmp_path / "slurm.conf"
        conf.write_text(SLURM.format(port=nobody.getsockname()[1]))
        monkeypatch.setenv("SLURM_CONF", str(conf))
        yield


def test_a_slurm_whose_controller_is_dead_is_refused_with_the_reason(dead_slurm):
    spec = make_spec("cluster", {"type": "slurm"}, where="test")
    with raises(UsageError, "BL-SESSION-104", "cluster"):
        refuse_unusable([spec])


@needs_ssh
def test_ssh_hosts_without_an_address_are_named(tmp_path):
    config = tmp_path / "config"
    config.write_text(
        "Host there\n  HostName 127.0.0.1\nHost behind\n  ProxyJump nowhere.invalid\n"
    )
    file = tmp_path / "platforms.toml"
    file.write_text(
        "".join(
            f'[platform.{name}]\ntype = "ssh"\nhosts = {hosts}\nconfig = "{config}"\n'
            for name, hosts in {
                "good": ["there", "behind"],
                "bad": ["there", "a.invalid", "b.invalid"],
            }.items()
        )
    )
    rows = {row["platform"]: row for row in platform_rows(file)}
    assert rows["good"]["available"], rows["good"]["reason"]
    assert not rows["bad"]["available"]
    assert rows["bad"]["reason"] == "nothing has the name a.invalid, b.invalid"
