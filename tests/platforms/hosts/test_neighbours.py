"""Neighbours: busy while a trial runs and at no other time, or the trial is none."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest
from pydantic import ValidationError

from bareline.platforms.hosts.layers.neighbours import Neighbours, run_against_copies
from bareline.platforms.hosts.process import marked_processes
from bareline.platforms.localhost.local import LocalOptions, LocalPlatform
from bareline.testing.bench import until
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.message_codes import code_of
from bareline.vocabulary.model import Command, Layout, Output
from bareline.vocabulary.platform import PlatformSpec

LOADS = {"cpu": "stress-ng", "memory": "stress-ng", "disk": "stress-ng", "network": "iperf3"}
#: Prints the names of all processes that carry this trial's mark.
NAMES = """
for p in $(grep -lazsF "BARELINE_TRIAL=$BARELINE_TRIAL" /proc/[0-9]*/environ); do
    cat "${p%/environ}/comm" 2>/dev/null
done
:
"""
#: Kills the neighbours of this trial, and waits for their end: a signal waits for a processor.
KILL = """
for p in $(grep -lazsF "BARELINE_TRIAL=$BARELINE_TRIAL" /proc/[0-9]*/environ); do
    p=${p%/environ}
    grep -qs "^stress" "$p/comm" || continue
    kill -9 "${p#/proc/}"
    while grep -qs "^State:.[^ZX]" "$p/status"; do sleep 0.02; done
done
"""
#: Runs a command beside a neighbour until it is killed.
FOREVER = """
import sys
from pathlib import Path
from bareline.platforms.hosts.layers.neighbours import run_against_copies
from bareline.platforms.localhost.local import PLATFORM
from bareline.testing.bench import open_bench
scratch, token, load = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
with open_bench(PLATFORM, scratch, neighbours={"count": 1, "load": load, "workers": 1}) as bench:
    bench.token = token
    bench.shell(f"touch {scratch}/running; exec sleep 1000", timeout_s=1000)
"""


def _needs(load: str) -> None:
    if shutil.which(LOADS[load]) is None:
        pytest.skip(f"{LOADS[load]} is not installed")


def _children(pid: int) -> list[int]:
    with contextlib.suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _name(pid: int) -> str:
    """Return the name of a process that lives."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        return "" if "State:\tZ" in status else status.split()[1]
    return ""


@pytest.mark.parametrize(
    ("kind", "load"),
    [
        ("local", "disk"),
        pytest.param("netns", "cpu", marks=pytest.mark.netns),
        pytest.param("netns", "network", marks=pytest.mark.netns),
    ],
)
def test_neighbours_work_while_a_trial_runs_and_are_gone_afterwards(
    open_bench, kind, load, tmp_path
):
    _needs(load)
    bench = open_bench(kind, neighbours={"count": 2, "load": load, "workers": 1})
    working = bench.shell(NAMES).stdout.splitlines().count(LOADS[load])
    assert working == 2 * (2 if load == "network" else 1)  # streams have two ends
    assert marked_processes(bench.token) == []
    assert not list(tmp_path.rglob("bareline-work-*"))
    assert "cores-with-neighbours" in bench.allocation.caveats(bench.two_ranks)


def test_a_memory_neighbour_has_cores_of_its_own_where_it_is_given_some(open_bench):
    _needs("memory")
    core = max(os.sched_getaffinity(0))
    choice = {"count": 1, "load": "memory", "workers": 1, "cores": (core,)}
    bench = open_bench("local", neighbours=choice)
    script = NAMES.replace("/comm", "/status").replace("cat", "grep -h Cpus_allowed_list")
    assert f"Cpus_allowed_list:\t{core}\n" in bench.shell(script).stdout
    assert bench.allocation.caveats(bench.two_ranks) == ()


def test_a_neighbour_that_dies_makes_the_trial_a_failure(open_bench):
    _needs("cpu")
    bench = open_bench("local", neighbours={"count": 1, "workers": 1})
    with raises(PlatformError, "BL-PLATFORMS-379", "1"):
        bench.shell(KILL)
    assert marked_processes(bench.token) == []


@pytest.mark.parametrize("kind", ["local", pytest.param("netns", marks=pytest.mark.netns)])
def test_all_tenants_measure_the_same_command(open_bench, kind, tmp_path):
    """The measured one waits until both neighbours have run it, too; each has its own folder."""
    bench = open_bench(kind, neighbours={"count": 2, "load": "same"})
    script = f"""
        echo . >> {tmp_path}/starts
        mkdir only-one || exit 3
        while [ "$(wc -l < {tmp_path}/starts)" -lt 3 ]; do sleep 0.05; done
    """
    output = bench.run("sh", "-c", script, inputs=(("input", "text"),), timeout_s=60)
    assert output.exit_code == 0
    assert marked_processes(bench.token) == []
    assert not list(tmp_path.rglob("bareline-work-*"))


@pytest.mark.parametrize("code", [0, 1])
def test_a_tenant_that_cannot_measure_makes_the_trial_a_failure(code):
    """But where the measured one fails as well, that is what has to be said."""
    before = threading.active_count()

    class Broken:
        def run(self, command, layout, *, timeout_s):
            raise PlatformError("it broke")

        def end_marked(self, token):
            pass

    def run(command, layout, *, timeout_s):
        until(lambda: threading.active_count() == before)
        return Output(stdout="", stderr="", exit_code=code, duration_s=0.0)

    def measure():
        return run_against_copies(run, [Broken()], Command(argv=("true",)), Layout(), 1.0)

    if code:
        assert measure().exit_code == code
    else:
        with raises(PlatformError, "BL-PLATFORMS-309", "1"):
            measure()


@pytest.mark.parametrize(
    ("load", "codes", "printed"),
    [
        ("exec sleep 1000", ("BL-PLATFORMS-290",), ""),
        # Idle (478) if the load stops before the kernel has counted a tick of it in the trial.
        (
            "while [ ! -e {folder}/stop ]; do :; done; exec sleep 1000",
            ("BL-PLATFORMS-808", "BL-PLATFORMS-478"),
            "",
        ),
        ("echo no such thing >&2; exit 1", ("BL-PLATFORMS-290",), "no such thing"),
    ],
)
def test_a_neighbour_that_stands_still_makes_the_trial_a_failure(
    open_bench, monkeypatch, tmp_path, load, codes, printed
):
    monkeypatch.setattr("bareline.platforms.hosts.layers.neighbours._READY_S", 2.0)
    monkeypatch.setattr("bareline.platforms.hosts.layers.neighbours._LATE_S", 0.2)
    monkeypatch.setattr("bareline.platforms.hosts.layers.neighbours._LEAST_OF_FAIR", 1.0)
    argv = ["sh", "-c", load.format(folder=tmp_path)]
    monkeypatch.setattr(Neighbours, "stress_argv", lambda *_: argv)
    bench = open_bench("local", neighbours={"count": 1, "workers": 1})
    with pytest.raises(PlatformError) as caught:
        bench.shell(f"touch {tmp_path}/stop; sleep 1")
    assert code_of(caught.value) in codes
    assert "neighbour 1 on localhost" in str(caught.value) and printed in str(caught.value)
    assert marked_processes(bench.token) == []


def _workers(token):
    return {child for pid in marked_processes(token) for child in _children(pid)}


def _is_disk_worker(pid):
    return _name(pid).startswith("stress-ng-hdd")


def test_neighbours_end_when_bareline_is_killed(tmp_path):
    _needs("disk")
    token = f"{uuid.uuid4().hex}-1"
    argv = [sys.executable, "-c", FOREVER, str(tmp_path), token, "disk"]
    with subprocess.Popen(argv) as runner:
        try:
            until(lambda: (tmp_path / "running").exists() or runner.poll() is not None)
            assert runner.poll() is None
            # A worker carries no mark: stress-ng writes its title over it, a while after its start.
            until(lambda: any(map(_is_disk_worker, _workers(token))))
            workers = _workers(token)
        finally:
            runner.kill()  # the context waits for it
    until(lambda: not marked_processes(token))
    until(lambda: not any(_name(pid).startswith("stress-ng") for pid in workers))


def test_a_platform_with_neighbours_says_what_they_are(open_bench):
    _needs("cpu")
    known = {"neighbours.count": 2, "neighbours.load": "cpu", "neighbours.workers": 1}
    bench = open_bench("local", neighbours={"count": 2, "workers": 1})
    facts = bench.allocation.facts()
    assert {key: facts[key] for key in known} == known
    assert facts["neighbours.busy_cores"] > 0
    cores = bench.allocation.nodes[0].cores
    assert facts["neighbours.processors_per_core"] == pytest.approx((cores + 2) / cores, abs=1e-3)


def test_none_and_no_word_of_neighbours_differ_in_two_facts(open_bench):
    alone = open_bench("local", neighbours={"count": 0}).allocation.facts()
    silent = open_bench("local").allocation.facts()
    told = {"neighbours.count": 0, "neighbours.processors_per_core": 1.0}
    assert {key: alone[key] for key in set(alone) - set(silent)} == told


@pytest.mark.parametrize(
    "options",
    [
        {"count": -1},
        {"count": 65},
        {"load": "noise"},
        {"load": "idle", "workers": 2},
        {"workers": 0},
        {"cores": ()},
    ],
)
def test_options_out_of_range(options):
    with pytest.raises(ValidationError):
        Neighbours.model_validate(options)


def test_a_platform_whose_neighbours_cannot_work_is_refused(monkeypatch):
    def refused(**neighbours):
        options = LocalOptions.model_validate({"neighbours": neighbours})
        return LocalPlatform.available(PlatformSpec("p", "local", options))

    assert "core 9999" in refused(count=0, cores=(9999,)).reason
    monkeypatch.setenv("PATH", "/nowhere")
    missing = refused(count=1)
    assert not missing.ok
    assert "stress-ng" in missing.reason and "stress-ng" in missing.hint
