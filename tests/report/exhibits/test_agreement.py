"""Users' OSU and IMB beside bareline: a planted deviation is found at its program and size."""

from pathlib import Path

import numpy as np
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.probes.base import find_probe
from bareline.report.content.document import Document, document_of
from bareline.report.exhibits.agreement import _COUNTERPARTS
from bareline.report.exhibits.base import find_exhibit
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.testing.runs import replace_records
from bareline.vocabulary.exhibit import ExhibitSpec
from bareline.vocabulary.model import Case, Layout, Measured, Record, Sample, Trial

SIZES = (8, 64, 512)
BLOCKS = 8


def planted(block: int, probe: str, params: str, metric: str, factor: dict[int, float]) -> Record:
    noise = np.random.default_rng([block, len(probe), len(params)])
    samples = tuple(
        Sample(
            metric,
            1e-6 * (1 + 0.2 * block) * at * float(np.exp(0.002 * noise.standard_normal())),
            {"size_bytes": size},
        )
        for size, at in factor.items()
    )
    case = Case(probe=probe, params=params, ranks=2)
    trial = Trial(index=0, block=block, platform="bare", case=case, layout=Layout(1, 2))
    return Record(
        trial=trial,
        outcome=Measured(samples),
        started=f"2026-11-22T14:{block:02d}:00.000+00:00",
        duration_s=1.0,
    )


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    metrics = {
        name: {"unit": "s", "better": "lower", "detail": name != "latency"}
        for name in ("latency", "latency_rank_mean", "latency_loop_mean")
    }
    probes = ("mpi.bcast", "mpi.pingpong", "mpi.reduce_scatter", "osu", "imb")
    header = Header(
        study={"study": {"name": "agreement", "launches": 8}, "measure": [], "exhibit": []},
        probes={
            name: {"layer": "mpi", "headline": "latency", "title": name, "metrics": metrics}
            for name in probes
        },
        platforms={"bare": {"type": "local", "title": ""}},
        baseline="bare",
        seed=1,
        created="2026-11-22T14:03:22.000+00:00",
        versions={},
    )
    run = Run.create(Path(tmp_path_factory.mktemp("agreement") / "run"), header)
    one = dict.fromkeys(SIZES, 1.0)
    off = {8: 1.0, 64: 1.0, 512: 1.25}
    halved = {8: 1.0, 64: 1.0, 128: 1.0}
    records = [
        planted(block, probe, params, metric, factor)
        for block in range(BLOCKS)
        for probe, params, metric, factor in (
            ("mpi.bcast", "", "latency_rank_mean", off),
            ("osu", "program=bcast", "latency", one),
            ("imb", "benchmark=Bcast", "latency", {**one, 512: 1.25}),
            ("mpi.pingpong", "", "latency_loop_mean", one),
            ("osu", "", "latency", one),  # osu_latency is the default
            ("mpi.reduce_scatter", "", "latency_rank_mean", {16: 1.0, 128: 1.0, 256: 1.0}),
            ("imb", "benchmark=Reduce_scatter", "latency", halved),
        )
    ]
    replace_records(run, [_numbered(record, number) for number, record in enumerate(records)])
    return document_of(Comparison(read_runs([run])))


def _numbered(record: Record, index: int) -> Record:
    from dataclasses import replace

    return replace(record, trial=replace(record.trial, index=index))


def test_the_planted_deviation_is_found(document: Document) -> None:
    (figure,) = find_exhibit("agreement").figures(document, ExhibitSpec(kind="agreement"))
    assert figure.data_table is not None
    rows = {row[0].text: [field.text for field in row[1:]] for row in figure.data_table.rows}
    assert set(rows) == {
        "osu bcast, latency",
        "osu latency, latency",
        "imb Bcast, latency",
        "imb Reduce_scatter, latency",
    }
    ours, platform, sizes, median, worst, ratio, interval, n = rows["osu bcast, latency"]
    assert (ours, platform, sizes, n) == ("mpi.bcast latency_rank_mean", "bare", "3", "8")
    assert worst == "512 B"
    assert float(ratio) == pytest.approx(1.25, rel=0.01)
    assert interval
    assert float(median) < 1  # of three sizes only one is off
    assert float(rows["imb Bcast, latency"][3]) < 1
    # IMB counts a rank's block: its 8 B stand beside our 16 B on two ranks.
    assert rows["imb Reduce_scatter, latency"][2] == "3"


def test_nothing_without_programs_of_the_user(document: Document) -> None:
    spec = ExhibitSpec(kind="agreement", probe="mpi.*")
    assert find_exhibit("agreement").figures(document, spec) == []


def test_every_counterpart_exists() -> None:
    for (probe, program, metric), (own, own_metric) in _COUNTERPARTS.items():
        assert metric in find_probe(probe).metrics
        assert own_metric in find_probe(own).metrics
        key = "benchmark" if probe == "imb" else "program"
        choices = find_probe(probe).params.__dataclass_fields__[key].type
        assert program in str(choices).lower()
