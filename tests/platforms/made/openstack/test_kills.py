"""What a killed bareline leaves at any step goes with `platforms clean`, and only that."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.host.owner import owner_mark
from bareline.platforms.made.cloud.journal import journals, remember

VICTIM = Path(__file__).parent / "victim.py"
#: Lines of a journal of one instance: its head, then key pair, server group, port and server, each
#: asked for and made.
ASKED, MADE = (2, 4, 6, 8), (3, 5, 7, 9)
STEPS = [*((line, "after") for line in ASKED), *((line, "before") for line in MADE), (9, "after")]


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def others(plane):
    """Make what is not ours to remove: another user's server, and one of a bareline that lives."""
    user = plane.user
    names = ["bareline-look-alike", f"bareline-{owner_mark()}-7-n1-1"]
    flavor, image = user.compute.find_flavor("small").id, user.image.find_image("stand-in").id
    network = user.network.find_network("private").id
    for name in names:
        made = user.compute.create_server(
            name=name,
            flavor_id=flavor,
            image_id=image,
            networks=[{"uuid": network}],
            metadata={"bareline-owner": owner_mark()},
        )
        user.compute.wait_for_server(made, interval=0.2)
    return names


def clean():
    line = [sys.executable, "-m", "bareline", "platforms", "clean", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return [row["removed"] for row in json.loads(done.stdout)]


def killed(steps):
    """Run victims side by side; each ends at its step."""
    running = [subprocess.Popen([sys.executable, VICTIM, str(n), when]) for n, when in steps]
    codes = [one.wait() for one in running]
    assert codes == [-signal.SIGKILL] * len(codes)


@pytest.mark.slow
def test_kill_at_each_step_leaves_nothing_after_clean(plane, cache, others):
    before = sorted(plane.left())
    killed(STEPS)
    assert len(list(journals(cache))) == len(STEPS)
    assert len(plane.servers()) == 2 + 2
    told = clean()
    assert sorted(plane.left()) == before
    assert sum(": instance bareline-" in line for line in told) == 2
    # What was asked for and cannot be found may still come: its journal stays for two minutes.
    waiting = [story for _, story in journals(cache)]
    assert len(waiting) == len(ASKED)
    for path, story in journals(cache):
        text = path.read_text(encoding="utf-8")
        for at in story.asked_at.values():
            text = text.replace(f'"at": {at}', f'"at": {at - 1000}')
        path.write_text(text, encoding="utf-8")
    assert clean() == []
    assert list(journals(cache)) == []
    assert sorted(plane.left()) == before
    assert {one.name for one in plane.servers()} == set(others)


def test_lost_journal_is_made_up_for_by_names(plane, cache):
    killed([(9, "after")])
    assert len(plane.left()) == 4
    for path, _ in journals(cache):
        path.unlink()
    told = clean()
    assert len(told) == 4
    assert plane.left() == []


def test_cloud_that_does_not_answer_is_told_and_its_journal_stays(cache, tmp_path, monkeypatch):
    pytest.importorskip("openstack")
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))
    (tmp_path / "clouds.yaml").write_text("clouds: {other: {}}")
    cache.mkdir(mode=0o700)
    remember(cache, "openstack", {"cloud": "bareline"})
    (line,) = clean()
    assert "openstack bareline: cannot be looked at, nothing is removed" in line
    assert "clouds.yaml has no cloud 'bareline'; it has: other" in line
    assert os.environ["BARELINE_CACHE"] == str(cache)
