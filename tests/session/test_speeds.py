"""A machine with two speeds: what switches together is named, measured again, or has a caveat."""

import pytest

from bareline.probes.base import load_probes
from bareline.session import speeds
from bareline.session.speeds import SPEED_CAVEAT, SpeedChange, switches
from bareline.store.run import Run
from bareline.vocabulary.model import Case, Layout, Measured, Record, Sample, Trial

PROBES = ("mpi.allreduce", "mpi.bcast", "mpi.bandwidth", "mpi.pingpong")
SIZES = [1 << power for power in range(3, 21)]


def record(index, block, platform, probe, factor):
    """Give a launch whose points from 64 KiB on are so many times as slow."""
    headline = load_probes()[probe].headline
    up = load_probes()[probe].metrics[headline].better == "higher"
    samples = []
    for size in SIZES:
        worse = factor if size >= 1 << 16 else 1.0
        value = (1 + 0.03 * ((index * 7 + size) % 5)) * (size / worse if up else size * worse)
        samples.append(Sample(headline, value, {"size_bytes": size}))
    trial = Trial(
        index=index,
        block=block,
        platform=platform,
        case=Case(probe=probe, params="", ranks=2),
        layout=Layout(1, 2),
    )
    return Record(trial=trial, outcome=Measured(tuple(samples)), started="", duration_s=1.0)


def planted(slow):
    """Give eight blocks on two platforms; `slow` says how much slower a launch is."""
    places = [(b, p, probe) for b in range(8) for probe in PROBES for p in ("a", "b")]
    return [record(i, b, p, probe, slow(b, p, probe)) for i, (b, p, probe) in enumerate(places)]


def test_launches_that_switch_together_on_one_platform_are_the_machines():
    def slow(block, platform, probe):
        return 4.0 if (block, platform) in ((2, "b"), (5, "b")) and probe != "mpi.pingpong" else 1.0

    found = switches(planted(slow), load_probes())
    assert [(one.platform, one.block, len(one.records)) for one in found] == [
        ("b", 2, 3),
        ("b", 5, 3),
    ]
    assert found[0].times == pytest.approx(4.0, rel=0.1)
    told = str(found[0])
    assert told.startswith("the machine changed its speed between trials 17 and 21: ")
    assert "mpi.allreduce, mpi.bandwidth, mpi.bcast took" in told


@pytest.mark.parametrize(
    "slow",
    [
        lambda block, platform, probe: 1.0,
        # One program alone is that program; what both platforms show at once, pairing removes.
        lambda block, platform, probe: 4.0 if (block, probe) == (2, "mpi.bcast") else 1.0,
        lambda block, platform, probe: 4.0 if block == 2 else 1.0,
        # A platform that is always slower is what a run is there to find.
        lambda block, platform, probe: 4.0 if platform == "b" else 1.0,
    ],
)
def test_what_one_program_or_all_platforms_show_is_not(slow):
    assert switches(planted(slow), load_probes()) == []


@pytest.mark.parametrize("budget_s", [None, 1e-6])
def test_what_switched_is_measured_again_while_the_budget_lasts(
    make_run, execute, monkeypatch, budget_s
):
    head = {} if budget_s is None else {"budget_s": budget_s}
    run = make_run(launches=6, **head)

    def seen(records, probes):
        of = [r for r in records if (r.trial.platform, r.trial.block) == ("b", 2)]
        return [] if any(r.attempt > 1 for r in of) else [SpeedChange("b", 2, tuple(of), 4.0)]

    monkeypatch.setattr(speeds, "switches", seen)
    for _ in range(2):  # going on finds nothing more to do
        execute(run)
        again = {r.trial.index: r for r in Run.open(run.path).records() if r.attempt > 1}
        counts = run.finished()
        assert {r.trial.block for r in again.values()} == ({2} if budget_s is None else set())
        assert {r.trial.platform for r in again.values()} == (
            set("ab") if budget_s is None else set()
        )
        doubted = [r for r in counts.values() if SPEED_CAVEAT in r.caveats]
        assert len(doubted) == (0 if budget_s is None else 1)
        assert all(r.outcome.samples for r in counts.values())
        assert len(list(run.records())) == (14 if budget_s is None else 13)
    assert "changed its speed" in (run.path / "events.jsonl").read_text()
