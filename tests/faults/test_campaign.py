"""The campaign of `make faults` in its short form: each fault a few times, nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).resolve().parents[2] / "scripts" / "faults"
#: Faults that start real programs are tried by `make faults` only; their like is tried elsewhere
#: in these tests, on the platforms themselves, as is a host that lies (test_lying_host.py).
SHORT = (
    "runner killed, null trials",
    "files of a run damaged",
    "studies damaged",
    "platform files damaged",
    "values of a run",
    "values of a second version's run",
    "values of studies and platforms",
    "special files in a run",
    "disk full",
    "few open files",
    "file size limited",
    "two of one run",
    "two copies of a run",
    "clock set back",
    "clock jumps",
    "the k-th call fails",
    "spoiled imports",
    "hostile settings",
    "hostile strings",
)
#: What no fault may do, by its name in the table.
BROKEN = ("lost", "repeated", "tracebacks", "aborts", "large", "left")


def campaign(*arguments, cache=None):
    line = [sys.executable, CAMPAIGN, *arguments]
    env = {**os.environ, **({"BARELINE_CACHE": str(cache)} if cache else {})}
    return subprocess.run(line, capture_output=True, text=True, check=False, env=env)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_is_lost_repeated_or_left_behind(tmp_path):
    # In a cache of its own: what other tests killed is theirs to leave.
    (tmp_path / "cache").mkdir(mode=0o700)
    done = campaign("--short", "--json", *SHORT, cache=tmp_path / "cache")
    table = json.loads(done.stdout)
    assert set(table) == set(SHORT)
    for name, count in table.items():
        if isinstance(count, str):
            assert count == "needs root", f"{name}: {count}"
            continue
        assert count["tries"] > 0
        broken = {
            key: count[key] for key in ("lost", "repeated", "tracebacks", "aborts", "large", "left")
        }
        assert not any(broken.values()), f"{name}: {count['notes']}"
    assert done.returncode == 0


def test_the_campaign_notices_what_it_looks_for(tmp_path, monkeypatch):
    """A witness that sees nothing would be no witness."""
    monkeypatch.syspath_prepend(str(CAMPAIGN))
    from bench import Witness, judge
    from table import Count
    from zygote import Ended

    count = Count()
    records = tmp_path / "records.jsonl"
    records.write_text('{"trial": 0}\n{"trial": 1}\n{"tri')
    witness = Witness(tmp_path, count)
    assert witness.look() == 2
    records.write_text('{"trial": 0}\n')
    witness.look()
    assert count.lost == 1
    records.write_text('{"trial": 0}\n{"trial": 0}\n')
    witness.look()
    assert count.repeated == 1
    judge(count, Ended(1, "Traceback (most recent call last):"), "x")
    judge(count, Ended(-11, ""), "x")
    judge(count, Ended(2, "bareline: no"), "x")
    judge(count, Ended(0, "", memory_kib=1 << 20), "x")
    judge(count, Ended(-9, "", late=True), "x")
    assert (count.tracebacks, count.aborts, count.large) == (2, 1, 1)
    assert not count.clean


def test_every_fault_of_the_list_is_there():
    names = campaign("--list").stdout.splitlines()
    assert set(SHORT) <= set(names)
    assert len(names) >= 20
