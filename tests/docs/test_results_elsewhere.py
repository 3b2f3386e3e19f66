"""docs/how-to/results-elsewhere.md: the notebook runs, other programs read the files."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.selection import Selection
from bareline.report.content.exporting import write_samples
from bareline.store.run import Run

REPOSITORY = Path(__file__).parents[2]
MEASURED = REPOSITORY / "tests" / "data" / "runs-0.1.0" / "measured"
_LINE = re.compile(r'(\w+)\{((?:\w+="(?:[^"\\\n]|\\.)*",?)*)\} (\S+) (\d+\.\d+)')


def test_the_notebook_runs(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    notebook = json.loads((REPOSITORY / "docs" / "how-to" / "results.ipynb").read_text())
    names = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    ratios = names["ratios"]
    assert ratios.height == names["wide"].height > 0
    assert ratios.drop_nulls().height


@pytest.fixture
def records():
    return read_runs([Run.open(MEASURED)])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_files_hold_every_sample(records, tmp_path, ending):
    path = tmp_path / f"samples.{ending}"
    height = records.samples.height
    assert write_samples(records, path, Selection()) == height
    read = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[ending]
    table = read(path, **({} if ending == "parquet" else {"infer_schema_length": None}))
    assert table.height == height
    assert table["value"].sum() == pytest.approx(records.samples["value"].sum())
    assert {"run", "platform", "metric", "started"} <= set(table.columns)


def test_openmetrics_are_well_formed(records, tmp_path):
    path = tmp_path / "medians.prom"
    points = write_samples(records, path, Selection())
    *lines, last, empty = path.read_text().split("\n")
    assert (last, empty) == ("# EOF", "")
    values = [_LINE.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(values)
    named = [match[1] for match in values]
    assert named == sorted(named, key=list(dict.fromkeys(named)).index), "a family lies apart"
    assert named.count("bareline_median") == named.count("bareline_trials") == points
    assert len({match[1] + match[2] for match in values}) == len(values), "a series stands twice"
    dashboard = (REPOSITORY / "packaging" / "grafana.json").read_text()
    json.loads(dashboard)
    assert set(re.findall(r"bareline_\w+", dashboard)) <= set(named)
