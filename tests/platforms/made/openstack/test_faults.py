"""Each way in which a cloud fails its users, on a real one: repaired, told, given back."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

from bareline.platforms.base import Context
from bareline.platforms.made.cloud import group
from bareline.platforms.made.cloud.journal import journals
from bareline.platforms.made.cloud.openstack import OpenStackOptions
from bareline.platforms.made.cloud.provider import BackOff, QuotaReached, Retries
from bareline.platforms.made.openstack import OpenStackPlatform
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import NotNow, PlatformError
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PlatformSpec

USUAL = {
    **{"cloud": "bareline", "image": "stand-in", "flavor": "small", "instances": 2},
    **{"reach_s": 60.0, "active_s": 240.0, "connect_s": 30.0, "attempts": 2},
}


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch):
    """Look more often than at a cloud whose instances take minutes."""
    monkeypatch.setattr(group, "_AGAIN", BackOff(first_s=0.1))
    monkeypatch.setattr(group, "_LOOK_S", 0.2)
    monkeypatch.setattr(group, "_PAUSE_S", 0.2)


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
        raises(QuotaReached, "BL-PLATFORMS-863", "6", "7"),
        up(instances=7),
    ):
        pytest.fail("came up")
    assert plane.asked("compute", r"^POST .*/(servers|os-keypairs)$") == 0


def test_quota_that_is_met_in_between_stops_and_leaves_nothing(plane, up):
    project = plane.user.current_project_id
    plane.admin.network.update_quota(project, port=1)
    try:
        with raises(QuotaReached, "BL-PLATFORMS-773", "port"), up():
            pytest.fail("came up")
    finally:
        plane.admin.network.delete_quota(project)
    assert plane.left() == []


def test_no_valid_host_is_tried_again_then_told_and_nothing_stays(plane, up):
    attempts = ("1. ERROR: No valid host", "2. ERROR: No valid")
    with (
        raises(NotNow, "BL-PLATFORMS-524", "n1: ", *attempts) as raised,
        up(instances=1, flavor="huge"),
    ):
        pytest.fail("came up")
    assert "attempts" in raised.value.hint
    assert plane.asked("compute", r"^POST .*/servers$") == 2
    assert plane.left() == []


def test_one_that_fails_is_replaced_the_others_stay(plane, up):
    plane.plan({"server": "*-n2-*", "fault": "abort", "times": 1, "text": "the disk is full"})
    with up() as nodes:
        assert names(nodes) == ["n1", "n2"]
        assert nodes.facts()["cloud.retries"] == 1
        (told,) = [text for text in nodes.events() if "did not come up" in text]
        assert told.startswith("n2 (") and "ERROR: " in told and "the disk is full" in told
        assert plane.asked("compute", r"^POST .*/servers$") == 3
        assert len(plane.servers()) == 2
    assert plane.left() == []


def test_one_that_is_active_and_never_answers_is_given_up(plane, up):
    plane.plan({"server": "*", "fault": "unreachable", "times": 9})
    with (
        raises(NotNow, "BL-PLATFORMS-524", "n1: ", "1. ACTIVE", "2. "),
        up(instances=1, reach_s=2.0),
    ):
        pytest.fail("came up")
    assert plane.asked("compute", r"^POST .*/servers$") == 2
    assert plane.left() == []


def test_one_that_takes_too_long_is_given_up(plane, up):
    plane.plan({"server": "*", "fault": "slow", "seconds": 5, "times": 9})
    with (
        raises(NotNow, "BL-PLATFORMS-524", "n1: ", "BUILD"),
        up(instances=1, attempts=1, active_s=2.0),
    ):
        pytest.fail("came up")
    assert plane.left() == []


def test_rate_limits_and_failures_of_services_are_waited_for(plane, up):
    plane.refuse("compute", "POST", r"/servers$", status=429, headers={"Retry-After": "2"})
    plane.refuse("network", "POST", r"/ports$", status=503, times=2)
    plane.refuse("compute", "GET", r"/servers/[0-9a-f-]+$", status=500)
    plane.refuse("compute", "DELETE", r"/servers/", status=502)
    with up() as nodes:
        told = nodes.events()
        assert sum("asked again in 2.0 s" in text for text in told) == 1
        assert sum("HTTP 503" in text for text in told) == 2
        assert sum("HTTP 500" in text for text in told) == 1
        assert nodes.facts()["cloud.retries"] == 0
    assert plane.left() == []


@pytest.mark.parametrize(
    ("service", "path"),
    [("compute", r"/servers$"), ("compute", r"/os-keypairs$"), ("network", r"/ports$")],
)
def test_what_was_made_and_never_answered_is_found_and_not_made_twice(plane, up, service, path):
    plane.refuse(service, "POST", path)
    with up(instances=1) as nodes:
        assert any("asked again" in text for text in nodes.events())
        assert len(plane.left()) == 3
    assert plane.left() == []


def test_cloud_that_never_answers_is_given_up_for_now(plane, up, monkeypatch):
    monkeypatch.setattr(Retries.__init__, "__defaults__", (BackOff(most_s=3.0), lambda _: None))
    plane.refuse("compute", "GET", r"/limits", status=503, times=99)
    with (
        raises(NotNow, "BL-PLATFORMS-453", "HTTP 503"),
        up(),
    ):
        pytest.fail("came up")


def test_one_that_dies_in_a_trial_is_replaced_and_the_trial_repeated(plane, up, tmp_path):
    begun, go = tmp_path / "begun", tmp_path / "go"
    script = 'echo x >>"$1"; until [ -e "$2" ]; do sleep 0.1; done; hostname'
    command = Command(argv=("sh", "-c", script, "sh", str(begun), str(go)), node=1)
    with up() as nodes:
        (second,) = [one for one in plane.servers() if "-n2-" in one.name]

        def die():
            until(begun.exists)
            plane.kill(second.id)
            go.touch()

        killer = threading.Thread(target=die)
        killer.start()
        output = nodes.run(command, Layout(2), timeout_s=60)
        killer.join()
        assert output.stdout == "n2\n"
        assert begun.read_text() == "x\nx\n"
        told = nodes.events()
        assert any("n2" in text and "given up: lost: ACTIVE, but no ssh" in text for text in told)
        assert "n2: replaced by another" in told
        assert second.id not in [one.id for one in plane.servers()]
    assert plane.left() == []


def test_one_that_somebody_removes_is_replaced_before_the_next_trial(plane, up):
    with up(instances=1) as nodes:
        (server,) = plane.servers()
        plane.admin.compute.delete_server(server)
        plane.admin.compute.wait_for_delete(server, interval=0.2)
        output = nodes.run(Command(argv=("hostname",)), Layout(1), timeout_s=60)
        assert output.stdout == "n1\n"
        assert any("removed from outside" in text for text in nodes.events())
    assert plane.left() == []


def test_port_that_no_host_can_bind_says_so(plane, up):
    direct = {"network": "private", "vnic_type": "direct"}
    with (
        raises(PlatformError, "BL-PLATFORMS-524", "1. ERROR: "),
        up(instances=1, attempts=1, ports=[direct]),
    ):
        pytest.fail("came up")
    assert plane.left() == []
