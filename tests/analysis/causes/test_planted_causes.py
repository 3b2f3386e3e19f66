"""Causes and decoys on planted platforms: the benchmark's worlds, all of them."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "planted_causes.py"


def _load():
    spec = importlib.util.spec_from_file_location("planted_causes", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["planted_causes"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


bench = _load()


@pytest.mark.parametrize("world", bench.WORLDS, ids=lambda world: world.name)
def test_true_causes_are_named_first_and_decoys_are_refused(world, tmp_path):
    judged = bench.judge(world, tmp_path / "run")
    assert judged.causes >= 1
    assert not judged.unnamed and not judged.withdrawn
    assert not judged.not_first and not judged.outside
    assert not judged.standing
    assert judged.left < 0.05  # of no loss more is certainly left over


def test_there_are_as_many_causes_and_decoys_as_were_asked_for():
    causes = sum(len(world.effects) for world in bench.WORLDS if not world.decoys)
    assert causes >= 34
    assert sum(len(world.decoys) for world in bench.WORLDS) >= 10
