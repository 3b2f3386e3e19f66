"""What a simulation is held against: measured values of the same layout, and no others."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.numbers.summary import summarize
from bareline.session.simulation import Simulations
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.testing.runs import replace_records
from bareline.vocabulary.model import Case, Layout, Measured, Record, Sample, Trial


def test_within_a_node_and_between_nodes_are_never_held_against_each_other(tmp_path: Path) -> None:
    header = Header(
        study={"study": {"name": "layouts"}, "measure": []},
        probes={
            "mpi.barrier": {
                "layer": "mpi",
                "headline": "latency",
                "title": "MPI_Barrier",
                "metrics": {
                    "latency": {"unit": "s", "better": "lower", "detail": False},
                    "latency_loop_mean": {"unit": "s", "better": "lower", "detail": True},
                },
            }
        },
        platforms={"net": {"type": "netns", "title": ""}},
        baseline="net",
        seed=1,
        created="2026-11-22T14:03:22.000+00:00",
        versions={},
    )
    run = Run.create(tmp_path / "run", header)
    replace_records(
        run,
        [
            Record(
                trial=Trial(
                    index=index,
                    block=0,
                    platform="net",
                    case=Case(probe="mpi.barrier", ranks=2, nodes=nodes),
                    layout=Layout(nodes, 2 // nodes),
                ),
                outcome=Measured((Sample("latency_loop_mean", 1e-6 * 100**index),)),
                started="2026-11-22T14:04:00.000+00:00",
                duration_s=1.0,
            )
            for index, nodes in enumerate((1, 2))
        ],
    )
    records = read_runs([run])
    points = summarize(records).filter(pl.col("platform") == "net")
    simulations = Simulations(records, "net", points, print)
    for case in simulations._cases.iter_rows(named=True):
        (check,) = simulations._agreements(case, (Sample("latency_loop_mean", 1e-4),))
        assert check.measured == pytest.approx({1: 1e-6, 2: 1e-4}[case["nodes"]])
