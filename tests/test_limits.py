"""Limits of `scripts/limits.toml`: what exceeds them, and how they fall."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "limits.py"


@pytest.fixture(scope="module")
def limits():
    spec = importlib.util.spec_from_file_location("limits", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_count_may_reach_its_limit_and_not_exceed_it(limits):
    assert list(limits.exceeded({"names": 5, "tuples": 4}, {"names": 5, "tuples": 4})) == []
    problems = list(limits.exceeded({"names": 6, "tuples": 4}, {"names": 5, "tuples": 4}))
    assert problems == ["names: 6, and the limit is 5"]


def test_a_count_without_a_limit_must_be_zero(limits):
    assert list(limits.exceeded({"names": 0}, {})) == []
    assert list(limits.exceeded({"names": 1}, {})) == ["names: 1, and the limit is 0"]


def test_limits_fall_with_the_counts_and_never_rise(limits):
    slack = {"names": 10, "expr/line": 0.02}
    new = limits.lowered({"names": 50, "expr/line": 4.1}, {"names": 90, "expr/line": 4.0}, slack)
    assert new == {"names": 60, "expr/line": 4.0}


def test_written_limits_are_read_back(limits, tmp_path):
    sections = {"prose-src": {"is no X, is none of": 3}, "density": {"expr/line": 4.02}}
    limits.write_limits(sections, tmp_path / "limits.toml")
    assert limits.read_limits(tmp_path / "limits.toml") == sections
