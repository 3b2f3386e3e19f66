"""The campaign of `make faults` in its short form: each fault a few times, nothing is lost."""

from __future__ import annotations

import importlib.util
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


@pytest.fixture
def faults(monkeypatch):
    """Give the campaign's own module, and its table."""
    monkeypatch.syspath_prepend(str(CAMPAIGN))
    spec = importlib.util.spec_from_file_location("campaign_of_faults", CAMPAIGN / "__main__.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_campaign_goes_on_where_its_journal_ends(faults, tmp_path, monkeypatch):
    journal = tmp_path / "faults.jsonl"
    monkeypatch.setenv("BARELINE_FAULTS_JOURNAL", str(journal))
    tried = []

    def try_it(bench, tries):
        count = faults.Count()
        for case in bench.share(range(25), tries):
            tried.append(case)
            count.tries += 1
            count.record(f"case {case}", verdict="well")
            if len(tried) == 13:
                raise KeyboardInterrupt
        return count

    fault = faults.Fault(try_it, 25, 1, part=10)
    parts = [faults.Part("x", 1, first, 10) for first in (0, 10, 20)]
    with pytest.raises(KeyboardInterrupt):
        faults._tried(fault, parts, {}, None)
    verdicts = [json.loads(line) for line in journal.read_text().splitlines()]
    assert sum("verdict" in entry for entry in verdicts) == 13
    with journal.open("a") as file:
        file.write('{"part": {"fau')  # killed while it wrote
    recorded = faults.recorded_parts(journal)
    assert {part.first: count.tries for part, count in recorded.items()} == {0: 10}
    tried[:] = [None] * 13
    total = faults._tried(fault, parts, recorded, None)
    assert total.tries == 25 and len(tried) == 13 + 15
    # Each case belongs to one part, and the first ten were tried before.
    assert len(set(tried[13:])) == 15


def test_every_fault_of_the_list_is_there():
    names = campaign("--list").stdout.splitlines()
    assert set(SHORT) <= set(names)
    assert len(names) >= 20
