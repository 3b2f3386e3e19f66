"""Which profiled launches are of one application."""

from __future__ import annotations

from pathlib import Path

from bareline.analysis.numbers.records import read_runs
from bareline.predict.applications import applications
from bareline.predict.replay.reference import ApplicationClock
from bareline.profile.launch import PROFILE_FILE
from bareline.store.header import Header
from bareline.store.run import Run
from bareline.testing.runs import replace_records
from bareline.vocabulary.model import Case, Layout, Measured, Record, Sample, Trial


def test_threads_and_nodes_tell_applications_apart(tmp_path: Path) -> None:
    header = Header(
        study={"study": {"name": "apps"}, "measure": []},
        probes={
            "npb.cg": {
                "layer": "npb",
                "headline": "time",
                "title": "CG",
                "metrics": {"time": {"unit": "s", "better": "lower", "detail": False}},
            }
        },
        platforms={"bare": {"type": "local", "title": ""}},
        baseline="bare",
        seed=1,
        created="2026-11-22T14:03:22.000+00:00",
        versions={},
    )
    run = Run.create(tmp_path / "run", header)
    layouts = [(None, Layout(1, 2)), (None, Layout(1, 2, 4)), (1, Layout(1, 2)), (2, Layout(2, 1))]
    records = []
    for index, (nodes, layout) in enumerate(layouts):
        case = Case(
            probe="npb.cg", ranks=2, threads=layout.threads_per_rank, nodes=nodes, profile=True
        )
        trial = Trial(index=index, block=0, platform="bare", case=case, layout=layout)
        records.append(
            Record(
                trial=trial,
                outcome=Measured((Sample("time", 1.0 + index),)),
                started="2026-11-22T14:04:00.000+00:00",
                duration_s=1.0,
                caveats=("oversubscribed",),
            )
        )
        path = run.raw_file(index, PROFILE_FILE)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()  # ranks share cores by design: nothing of it is read
    replace_records(run, records)
    found = applications(read_runs([run]))
    assert {name: len(own["bare"].launches) for name, own in found.items()} == {
        "npb.cg ranks=2": 1,
        "npb.cg ranks=2 threads=4": 1,
        "npb.cg ranks=2 nodes=1": 1,
        "npb.cg ranks=2 nodes=2": 1,
    }
    # Their time is that which a comparison has, by the program's own clock.
    assert [own["bare"].times_s for own in found.values()] == [[1.0], [2.0], [3.0], [4.0]]
    assert found["npb.cg ranks=2"]["bare"].clock == ApplicationClock(1.0, 1.0, (1.0,))
