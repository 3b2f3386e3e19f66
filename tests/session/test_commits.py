"""Outputs per commit: a run each, in the order of the commits, on one platform."""

import hashlib
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bareline.formats.importer import Commit
from bareline.session.commits import run_name
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError

ROOT = Path(__file__).parents[2]
HYPERFINE = ROOT / "tests/formats/data/hyperfine.named.out"
CONTRIB = ROOT / "packages/bareline-contrib/tests/data"


def trend_rows(bareline, folder):
    code, out, _ = bareline("trend", folder, "--json")
    assert code == 0
    return json.loads(out)


def dated(path: Path, text: str, year: int) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    moment = datetime(year, 1, 1, tzinfo=UTC).timestamp()
    os.utime(path, (moment, moment))


def test_files_of_commits_are_runs_by_their_names(bareline):
    for name, year in (("c3", 2023), ("c1", 2021), ("c2", 2022)):
        dated(Path("times", f"{name}.json"), HYPERFINE.read_text(), year)
    line = ("import", "times", "--platform", "ci", "--per-commit", "--out", "history")
    code, out, err = bareline(*line)
    assert code == 0 and out.strip() == "history"
    assert re.search(r"\b3 commits\b.*\b36 trials\b", err)
    row = trend_rows(bareline, "history")[0]
    assert [Path(run["run"]).name for run in row["runs"]] == ["c1", "c2", "c3"]
    assert all(run["file_date"] for run in row["runs"])
    # Again, with one commit more: what is there already is not taken twice.
    dated(Path("times", "c4.json"), HYPERFINE.read_text(), 2024)
    assert "4 commits, a run each: 12 trials, 36 already there" in bareline(*line)[2]


def test_asv_names_its_commits_and_their_dates(bareline, contrib):
    text = (CONTRIB / "asv.sorting.out").read_text()
    commit = json.loads(text)["commit_hash"]
    for number, year in ((1, 2021), (2, 2019), (3, 2020)):
        content = json.loads(text)
        content["commit_hash"] = f"{number}{commit[1:]}"
        content["date"] = int(datetime(year, 5, 1, tzinfo=UTC).timestamp() * 1000)
        Path("results").mkdir(exist_ok=True)
        Path("results", f"{number}.json").write_text(json.dumps(content))
    assert bareline("import", "results", "--per-commit", "--out", "history")[0] in (0, 3)
    names = sorted(path.name for path in Path("history").iterdir())
    assert names == [f"{number}{commit[1:12]}" for number in (1, 2, 3)]
    rows = trend_rows(bareline, "history")
    # One platform, not one for each commit; in the order of the commits, measured in any.
    assert len({row["platform"] for row in rows}) == 1
    assert commit[1:8] not in rows[0]["platform"]
    assert [run["created"][:4] for run in rows[0]["runs"]] == ["2019", "2020", "2021"]
    assert not any(run["file_date"] for run in rows[0]["runs"])


def test_google_benchmark_is_ordered_by_the_time_in_its_outputs(bareline, contrib):
    text = (CONTRIB / "googlebench.repetitions.out").read_text()
    content = json.loads(text)
    for name, day in (("b", "2025-03-02"), ("a", "2025-03-04"), ("c", "2025-03-03")):
        content["context"]["date"] = f"{day}T04:00:00+00:00"
        dated(Path("bench", f"{name}.json"), json.dumps(content, indent=1), 2026)
    line = ("import", "bench", "--platform", "ci", "--per-commit", "--out", "history")
    assert bareline(*line)[0] == 0
    row = trend_rows(bareline, "history")[0]
    assert [Path(run["run"]).name for run in row["runs"]] == ["b", "c", "a"]


def test_nothing_is_written_when_a_file_is_of_no_known_format(bareline):
    dated(Path("times", "c1.json"), HYPERFINE.read_text(), 2021)
    Path("times", "notes.txt").write_text("nothing known")
    line = ("import", "times", "--platform", "ci", "--per-commit", "--out", "history")
    assert bareline(*line)[0] == 2
    assert not Path("history").exists()
    code, _, err = bareline(*line, "--skip-unknown")
    assert code == 0 and "times/notes.txt" in err


@pytest.mark.parametrize(
    ("commit", "name"),
    [
        ("4" * 40, "4" * 12),
        ("v1.2+dirty", "v1.2+dirty"),
        ("a/../../b", "a-..-..-b"),
        ("..", None),
        ("", None),
    ],
)
def test_a_commit_never_names_another_folder(commit, name):
    if name is None:
        with raises(UsageError, "BL-SESSION-896"):
            run_name(Commit(commit))
    else:
        assert run_name(Commit(commit)) == name


def commit_id(number):
    return hashlib.sha1(str(number).encode()).hexdigest()


def store_of(commits):
    """Return a store of github-action-benchmark: an entry for each (number, day, factor)."""
    entries = [
        {
            "commit": {"id": commit_id(number), "timestamp": f"2025-03-{day:02d}T10:15:00+01:00"},
            "date": 1_741_000_000_000 + number,
            "tool": "cargo",
            "benches": [{"name": "fib", "value": 8000 * factor, "unit": "ns/iter"}],
        }
        for number, day, factor in commits
    ]
    return json.dumps({"lastUpdate": len(entries), "entries": {"Rust": entries}}, indent=2)


def test_github_action_benchmark_is_a_run_for_each_entry_of_its_store(bareline, contrib):
    commits = [(number, 1 + number, 1.3 if number > 9 else 1.0) for number in range(1, 16)]
    commits[2], commits[3] = commits[3], commits[2]
    Path("data.js").write_text("window.BENCHMARK_DATA = " + store_of(commits[:12]))
    line = ("import", "data.js", "--platform", "ci", "--per-commit", "--out", "history")
    assert "12 commits, a run each: 12 trials" in bareline(*line)[2]
    # The store after three more commits: only these are new.
    Path("data.js").write_text("window.BENCHMARK_DATA = " + store_of(commits))
    assert "15 commits, a run each: 3 trials, 12 already there" in bareline(*line)[2]
    (row,) = trend_rows(bareline, "history")
    numbers = [int(run["created"][8:10]) - 1 for run in row["runs"]]
    assert numbers == list(range(1, 16))
    assert (row["platform"], row["verdict"]) == ("ci", "slower")
    assert row["first_of_new_level"].endswith(commit_id(10)[:12])


def test_github_action_benchmark_needs_a_platform_for_a_history(bareline, contrib):
    Path("data.js").write_text(store_of([(1, 1, 1.0)]))
    code, _, err = bareline("import", "data.js", "--per-commit", "--out", "history")
    assert code == 2 and "--platform" in err
