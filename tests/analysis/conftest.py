"""Runs with planted figures."""

from dataclasses import replace

import numpy as np
import pytest

from bareline.session import begin
from bareline.session.origin import plan_of
from bareline.session.variants import with_control
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Failed, Measured, Record, Sample


@pytest.fixture
def plant_study(tmp_path, null_platforms):
    """Make a run of any measures whose samples are given by ``samples(trial, generator)``.

    `layout` gives the layout of a trial, `caveats` its caveats, `boot` the boot that it ran in and
    `took_s` what it took, where they are not usual.
    """
    numbers = iter(range(99))

    def make(
        samples,
        *measures,
        platforms=("a", "b"),
        launches=10,
        seed=11,
        layout=None,
        caveats=None,
        boot=None,
        took_s=lambda _trial: 0.1,
        **head,
    ):
        study = study_from_toml(
            {"study": {"name": "s", "launches": launches, "precision": 0, **head},
             "measure": list(measures)}, where="t",
        )  # fmt: skip
        wanted = [
            case.nodes or study.find_probe(case.probe).nodes or 1 for _, case in study.cases()
        ]
        specs = null_platforms(**{name: {"nodes": max(wanted)} for name in platforms})
        path = tmp_path / f"planted{next(numbers)}"
        asked = with_control(study, specs, platforms[0], None)
        run = begin.create_run(
            asked.study, asked.platforms, path, baseline=platforms[0], control=asked.name
        )
        generator = np.random.default_rng(seed)
        with run.writing():
            for trial in plan_of(run):
                if layout is not None:
                    trial = replace(trial, layout=layout(trial))
                outcome = samples(trial, generator)
                if not isinstance(outcome, Failed):
                    outcome = Measured(tuple(outcome))
                given = caveats(trial) if caveats else ()
                run.append(
                    Record(
                        trial=trial,
                        outcome=outcome,
                        started="t",
                        duration_s=took_s(trial),
                        caveats=given,
                        boot=boot(trial) if boot else None,
                    )
                )
        return run

    return make


@pytest.fixture
def plant(plant_study):
    """Make a run of one probe with the samples of ``samples(platform, block, generator)``."""

    def make(samples, *, probe="mpi.pingpong", ranks=2, **options):
        return plant_study(
            lambda trial, generator: samples(trial.platform, trial.block, generator),
            {"probe": probe, "ranks": ranks},
            **options,
        )

    return make


@pytest.fixture(scope="session")
def pingpong():
    """Samples of a ping-pong whose times are multiplied by a factor on each platform."""
    return _pingpong


def _pingpong(factor=None, sizes=(8, 65536, 1 << 20), spread=0.01):
    factor = factor or {}

    def samples(platform, block, generator):
        for size in sizes:
            time_s = 1e-6 * (1 + size / 1000) * factor.get(platform, 1.0)
            time_s *= float(np.exp(spread * generator.standard_normal()))
            yield Sample("latency", time_s, {"size_bytes": size})
            yield Sample("bandwidth", size / time_s, {"size_bytes": size})

    return samples
