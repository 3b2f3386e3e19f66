"""The ocean's verification values come out of another program; each variant finds them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from .conftest import Apps, point_of
from .ocean_reference import Basin, run

SOURCES = Path(__file__).resolve().parents[2] / "native" / "apps" / "ocean"
TOLERANCE = 1e-9


@cache
def class_s() -> dict[str, float]:
    return run(Basin(n=32, levels=10), steps=20)


@pytest.mark.parametrize("quantity", ["kinetic", "variance"])
def test_what_class_s_is_verified_by_comes_out_of_another_program(quantity) -> None:
    text = (SOURCES / "ocean_reference.f90").read_text(encoding="utf-8")
    stored = re.search(rf"{quantity}\(len\(ocean_classes\)\) = \[ &\s*([\d.]+)_dp", text)
    assert stored is not None
    (name,) = [name for name in class_s() if quantity in name]
    assert float(stored[1]) == pytest.approx(class_s()[name], rel=TOLERANCE)


@pytest.mark.mpi
@pytest.mark.parametrize("variant", ["2011", "tiles", "saving"])
def test_each_variant_of_the_solver_computes_the_same(variant, apps: Apps) -> None:
    done = apps.run("app.ocean", "S", "-v", variant, preload=apps.losing, env={})
    assert done.returncode == 0, done.stderr
    found = {q["name"]: q["value"] for q in point_of(done)["verification"]}
    for name, value in class_s().items():
        assert found[name] == pytest.approx(value, rel=TOLERANCE), name


@pytest.mark.mpi
def test_an_unknown_variant_is_refused(apps: Apps) -> None:
    done = apps.run("app.ocean", "S", "-v", "quick", preload=apps.losing, env={})
    assert done.returncode == 2 and not done.stdout
    assert "unknown variant 'quick', write one of 2011 tiles saving" in done.stderr
