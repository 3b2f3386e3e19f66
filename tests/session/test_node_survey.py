"""A survey of real hosts, one of which has a slow link."""

from contextlib import contextmanager
from io import StringIO

import pytest
from rich.console import Console

from bareline.analysis.judgements.survey import survey
from bareline.analysis.numbers.fleet import fleets
from bareline.analysis.numbers.records import read_runs
from bareline.platforms.base import availability_of
from bareline.platforms.config import platforms_from_toml
from bareline.platforms.localhost.netns import links
from bareline.platforms.localhost.netns.platform import NetnsPlatform
from bareline.report.terminal.runs import run_end_blocks
from bareline.report.writers.terminal import print_blocks
from bareline.session.begin import create_run
from bareline.session.runner import execute
from bareline.study.study import study_from_toml
from bareline.testing.runs import SilentObserver

pytestmark = pytest.mark.netns

SLOW = 2  # the third host
BUCKET = ("root", "tbf", "rate", "60mbit", "burst", "64kb", "latency", "50ms")


@pytest.fixture
def slow_link(monkeypatch):
    """Let the third host send through a token bucket."""
    acquire = NetnsPlatform.acquire

    @contextmanager
    def slowed(self, layout):
        with acquire(self, layout) as hosts:
            line = ["tc", "qdisc", "replace", "dev", links.HOST_DEVICE, *BUCKET]
            assert hosts.on_node(SLOW, line).exit_code == 0
            yield hosts

    monkeypatch.setattr(NetnsPlatform, "acquire", slowed)


def test_the_host_with_the_slow_link_is_named(tmp_path, slow_link):
    table = {"hosts": {"type": "netns", "hosts": 4}}
    specs = list(platforms_from_toml({"platform": table}, where="test").values())
    available = availability_of(specs[0])
    if not available.ok:
        pytest.skip(available.reason)
    measure = {"probe": "mpi.each_pair", "nodes": "all", "ranks_per_node": 1}
    measure["params"] = {"iterations": 2, "repeats": 1}
    head = {"name": "survey", "launches": 6, "precision": 0, "blocks_per_boot": 0}
    study = study_from_toml({"study": head, "measure": [measure]}, where="test")
    run = create_run(study, specs, tmp_path / "run", baseline="hosts", seed=1)
    tally, said = execute(run, SilentObserver()), StringIO()
    ended = run_end_blocks(run, tally.on, measured=tally.measured, failed=0, skipped=0, saved=0)
    print_blocks(ended, Console(file=said, width=200))
    assert f"next: bareline nodes {run.path}" in said.getvalue()
    assert "on another platform" not in said.getvalue()
    records = read_runs([run])
    (fleet,) = fleets(records)
    assert fleet.nodes == ("node1", "node2", "node3", "node4")
    found = survey(fleet, 0.05)
    assert found.bad_nodes == ("node3",)
    (bad,) = (one for one in found.deviating if one.kind == "node")
    assert bad.measured.metric == "pair_bandwidth" and bad.ratio.ends[0] > 1.5
    # Hosts that share a core, and whatever else the machine does, cost other links something too:
    # never as much as the slow one.
    links = [one for one in found.deviating if one.kind == "link"]
    others = [one.ratio.value for one in links if one.measured.metric == "pair_bandwidth"]
    assert all(other < bad.ratio.value for other in others)
