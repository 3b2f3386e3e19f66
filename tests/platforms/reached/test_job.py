"""Which nodes a batch job tells that bareline runs in."""

from __future__ import annotations

import pytest

from bareline.platforms.config import make_spec
from bareline.platforms.reached.job import JobPlatform, job_hosts
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

VARIABLES = ("PBS_NODEFILE", "LSB_DJOB_HOSTFILE", "LSB_HOSTS", "FLUX_URI")


@pytest.fixture(autouse=True)
def outside(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def spec(**options):
    return make_spec("j", {"type": "job", **options}, where="t")


def test_outside_a_job_there_are_no_nodes_and_the_next_step_is_told():
    assert job_hosts() == ()
    available = JobPlatform.available(spec())
    assert not available.ok and "bareline submit --with pbs" in available.hint


@pytest.mark.parametrize("variable", ["PBS_NODEFILE", "LSB_DJOB_HOSTFILE"])
def test_a_file_of_nodes_names_each_as_often_as_it_has_processors(monkeypatch, tmp_path, variable):
    (tmp_path / "nodes").write_text("n10.site\nn10.site\nn9.site\nn9.site\n")
    monkeypatch.setenv(variable, str(tmp_path / "nodes"))
    assert job_hosts() == ("n10.site", "n9.site")
    assert spec(exclude="n10.site").options.names == ("n9.site",)
    (tmp_path / "nodes").unlink()
    with raises(PlatformError, "BL-PLATFORMS-569", variable):
        job_hosts()


def test_a_small_job_of_lsf_names_them_in_a_variable(monkeypatch):
    monkeypatch.setenv("LSB_HOSTS", "a a b")
    assert job_hosts() == ("a", "b")


def test_flux_is_asked(monkeypatch, tmp_path):
    program = tmp_path / "flux"
    program.write_text('#!/bin/sh\n[ "$*" = "getattr hostlist" ] && echo "n[1-2],x7"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("FLUX_URI", "local:///run/flux/local")
    assert job_hosts() == ("n1", "n2", "x7")


@pytest.mark.parametrize("key", [{"hosts": ["a"]}, {"inventory": "/x"}, {"group": "g"}])
def test_the_job_names_the_hosts_and_nobody_else(key):
    with raises(PlatformError, "BL-PLATFORMS-889"):
        spec(**key)


def test_nodes_are_counted_before_they_are_known():
    assert spec(nodes=7).options.node_count == 7
