"""Each way in which a cloud fails its users, on a real one: repaired, told, given back."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from bareline.platforms.base import Context
from bareline.platforms.cloud.journal import journals
from bareline.platforms.cloud.provider import QuotaReached
from bareline.platforms.openstack.options import OpenStackOptions
from bareline.platforms.openstack.platform import OpenStackPlatform
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec

USUAL = {
    **{"cloud": "bareline", "image": "stand-in", "flavor": "small", "instances": 2},
    **{"reach_s": 60.0, "active_s": 240.0, "connect_s": 30.0, "attempts": 2},
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("BARELINE_CACHE", str(folder))
    return folder


@pytest.fixture
def up(plane, tmp_path, cache):
    """Bring a platform up for the length of a context: ``with up(flavor="huge") as nodes``."""

    @contextmanager
    def acquire(**options):
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        asked = OpenStackOptions(**{**USUAL, **options})
        platform = OpenStackPlatform(PlatformSpec("cloud", "openstack", asked), Context(scratch))
        with platform.acquire(Layout(asked.instances)) as nodes:
            yield nodes

    return acquire


def names(nodes):
    output = nodes.hosts.on_every_node("hostname", [[], []])
    return [each.stdout.strip() for each in output]


def test_instances_come_up_are_described_and_all_goes(plane, up, cache):
    with up(placement="anti-affinity", config_drive=True) as nodes:
        assert names(nodes) == ["n1", "n2"]
        facts = nodes.facts()
        assert (facts["cloud.flavor"], facts["cloud.image"]) == ("small", "stand-in")
        assert (facts["cloud.retries"], facts["cloud.hosts"]) == (0, 2)
        assert facts["cloud.active_s"] > 0 and facts["cloud.ssh_s"] > 0
        assert "shared-host" not in nodes.caveats(Layout(2))
        (_, story) = next(journals(cache))
        assert len(story.instances) == 2
        made = plane.left()
        assert len(made) == 2 + 2 + 1 + 1
        assert all("bareline-" in each for each in made)
    assert plane.left() == []
    assert list(journals(cache)) == []


def test_instances_on_one_machine_are_known_as_such(up):
    with up(placement="affinity") as nodes:
        assert nodes.facts()["cloud.hosts"] == 1
        assert "shared-host" in nodes.caveats(Layout(2))
        assert "shared-host" not in nodes.caveats(Layout(1))


def test_quota_stops_before_anything_is_made(plane, up):
    with (
        pytest.raises(QuotaReached, match=r"quota of 6 instances leaves 6, and 7 are needed"),
        up(instances=7),
    ):
        pytest.fail("came up")
    assert plane.asked("compute", r"^POST .*/(servers|os-keypairs)$") == 0


def test_quota_that_is_met_in_between_stops_and_leaves_nothing(plane, up):
    project = plane.user.current_project_id
    plane.admin.network.update_quota(project, port=1)
    try:
        with pytest.raises(QuotaReached, match=r"cloud: .*quota is reached: .*port"), up():
            pytest.fail("came up")
    finally:
        plane.admin.network.delete_quota(project)
    assert plane.left() == []
