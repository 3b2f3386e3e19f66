"""Which hosts a list or an inventory names."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bareline.platforms.reached.ssh.options import SshOptions, read_inventory
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.nodeset import MOST_HOSTS, unfold

INI = """\
# the cluster in the basement
login.example
[compute]
n[01:03] ansible_user=me
[gpu]
g1 ; a comment
[all_nodes:children]
compute
gpu
[compute:vars]
ansible_user=me
"""
YAML = """\
compute:
  hosts:
    n[1:2]:
      ansible_user: me
  children:
    gpu:
      hosts: {g1: null}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n1", ["n1"]),
        ("me@n1.example", ["me@n1.example"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-10].x", ["n08.x", "n09.x", "n10.x"]),
        ("n[1,4-5]", ["n1", "n4", "n5"]),
        ("r[1-2]n[1-2]", ["r1n1", "r1n2", "r2n1", "r2n2"]),
    ],
)
def test_ranges(text, expected):
    assert unfold(text) == expected


@pytest.mark.parametrize("text", ["", "-oProxyCommand=x", "n 1", "n;rm", "n[1-2"])
def test_what_is_no_host_is_refused(text):
    with raises(ValueError, "BL-VOCABULARY-190", repr(text)):
        unfold(text)


@pytest.mark.parametrize(
    ("text", "code"),
    [("n[1-999999]", "BL-VOCABULARY-944"), ("[1-9999][1-9999]x", "BL-VOCABULARY-344")],
)
def test_too_many_hosts_are_refused(text, code):
    with raises(ValueError, code, str(MOST_HOSTS)):
        unfold(text)


def test_an_inventory_in_ini(tmp_path):
    path = tmp_path / "hosts"
    path.write_text(INI)
    assert read_inventory(path, "compute") == ["n01", "n02", "n03"]
    assert read_inventory(path, "all_nodes") == ["n01", "n02", "n03", "g1"]
    assert read_inventory(path) == ["login.example", "n01", "n02", "n03", "g1"]
    with raises(PlatformError, "BL-PLATFORMS-381", "'x'", "all_nodes, compute"):
        read_inventory(path, "x")


def test_an_inventory_in_yaml(tmp_path):
    pytest.importorskip("yaml")
    path = tmp_path / "hosts.yml"
    path.write_text(YAML)
    assert read_inventory(path, "compute") == ["n1", "n2", "g1"]
    assert read_inventory(path, "gpu") == ["g1"]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({}, "BL-PLATFORMS-571"),
        ({"hosts": ["a"], "group": "x"}, "BL-PLATFORMS-151"),
        ({"hosts": ["a", "a"]}, "BL-PLATFORMS-853"),
        ({"hosts": ["-oProxyCommand=reboot"]}, "BL-VOCABULARY-190"),
        ({"hosts": ["a"], "subnet": "10.0.0.0"}, ""),
        ({"hosts": ["a"], "modules": ["x; reboot"]}, "BL-KEY-STRING-PATTERN-MISMATCH"),
        ({"inventory": "/no/such/file"}, "BL-PLATFORMS-211"),
    ],
)
def test_options_that_do_not_fit_together(options, code):
    if options.get("subnet"):
        assert SshOptions(**options).subnet == "10.0.0.0"
        return
    with raises(ValidationError, code):
        SshOptions(**options)
