"""The demo's study holds the ladder that a prediction of its own application looks up."""

from __future__ import annotations

import tomllib

import pytest

from bareline.predict.curves.requirements import BESIDE, plan_study
from bareline.study.catalogue import find_study

from .conftest import Bench

pytestmark = pytest.mark.mpi

#: How much of a curve is measured is the study's own choice; up to which size is not.
_EFFORT = {"iterations", "warmup", "budget_s"}


def reach(params: dict[str, object]) -> tuple[dict[str, object], int]:
    """Return the parameters without effort and largest size, and that."""
    rest = {key: value for key, value in params.items() if key not in _EFFORT}
    most = rest.pop("max_bytes", 0)
    assert isinstance(most, int)
    return rest, most


@pytest.mark.parametrize("bench", ["openmpi"], indirect=True)
def test_the_demo_measures_what_its_ocean_asks_for(bench: Bench) -> None:
    study = find_study("demo")
    ocean = next(one for one in study.measures if one.probe == "app.ocean")
    path = bench.kernel("app_ocean")
    done = bench.launch(2, path, str(ocean.params["problem_class"]))
    profile = bench.profile_of(done)
    known = {one.probe: reach(dict(one.params)) for one in study.measures}
    for wanted in tomllib.loads(plan_study(profile))["measure"]:
        if wanted["probe"] == BESIDE:  # a prediction does without, and the demo has three minutes
            continue
        params, most = reach(wanted.get("params", {}))
        assert known[wanted["probe"]][0] == params
        assert known[wanted["probe"]][1] >= most, wanted["probe"]
