"""Causes of a loss: named from what two platforms' processors show, and only beside a loss."""

import json

import numpy as np
import pytest

from bareline import session
from bareline.causes import causes
from bareline.compare import read_runs
from bareline.explain import statements
from bareline.model import Layer, Measured, Record, Sample
from bareline.study import study_from_toml

KEYS = ("sse2", "ssse3", "sse4_1", "sse4_2", "avx", "fma", "avx2", "avx512f")


def processor(*hidden, model="Xeon", emulated=False):
    facts = {f"cpu.flags.{key}": key not in hidden for key in KEYS}
    return {**facts, "cpu.model": model, "cpu.emulated": emulated}


HASWELL = processor("avx512f")
NEHALEM = processor("avx", "fma", "avx2", "avx512f", model="Intel Core i7 9xx (Nehalem)")


@pytest.mark.parametrize(
    ("facts", "baseline", "words"),
    [
        # A Haswell's 16 operations a cycle against the 4 of a Nehalem's code on it.
        (NEHALEM, HASWELL, ["AVX, AVX2 and FMA", "SSE code", "up to 4 times", "Nehalem", "2015"]),
        (NEHALEM, processor(), ["FMA and AVX-512", "up to 8 times"]),
        (HASWELL, processor(), ["AVX-512", "AVX2 code", "up to 2 times"]),
        (
            processor("avx2", "fma", "avx512f"),
            HASWELL,
            ["AVX2 and FMA", "AVX code", "up to 2 times"],
        ),
        (processor("ssse3"), processor(), ["SSSE3", "Nebula"]),
    ],
)
def test_hidden_instructions_are_named_with_what_they_can_cost(facts, baseline, words):
    (text,) = causes(Layer.COMPUTE, "vm", facts, "bare", baseline)
    assert all(word in text for word in words), text


@pytest.mark.parametrize(
    ("layer", "facts", "baseline"),
    [
        (Layer.COMPUTE, HASWELL, HASWELL),
        (Layer.COMPUTE, HASWELL, NEHALEM),
        (Layer.COMPUTE, {}, HASWELL),
        (Layer.COMPUTE, NEHALEM, {}),
        (Layer.NETWORK, NEHALEM, HASWELL),
    ],
)
def test_nothing_is_named_where_nothing_is_known_to_be_hidden(layer, facts, baseline):
    assert causes(layer, "vm", facts, "bare", baseline) == []


def test_an_emulated_processor_is_cause_enough():
    emulated = processor("avx512f", model="QEMU TCG CPU", emulated=True)
    (only,) = causes(Layer.COMPUTE, "vm", emulated, "bare", processor())
    assert "emulated" in only and "AVX-512" not in only
    both = causes(Layer.COMPUTE, "vm", emulated, "other", processor(emulated=True))
    assert len(both) == 1 and "emulated" not in both[0] and "up to 2 times" in both[0]


@pytest.mark.parametrize(("factor", "named"), [(0.33, True), (1.0, False), (1.5, False)])
def test_the_verdict_names_the_cause_only_beside_a_loss(tmp_path, null_platforms, factor, named):
    study = study_from_toml(
        {"study": {"name": "s", "launches": 10, "precision": 0},
         "measure": [{"probe": "compute.peak"}]}, where="t",
    )  # fmt: skip
    run = session.create_run(
        study, null_platforms(bare={}, vm={}), tmp_path / "run", baseline="bare"
    )
    generator = np.random.default_rng(3)
    for name, facts in (("bare", HASWELL), ("vm", NEHALEM)):
        (run.path / "facts" / f"{name}.json").write_text(json.dumps(facts))
    with run.writing():
        for trial in session.plan_of(run):
            rate = 6e10 * (factor if trial.platform == "vm" else 1)
            rate *= float(np.exp(0.002 * generator.standard_normal()))
            outcome = Measured((Sample("rate", rate),))
            run.append(Record(trial=trial, outcome=outcome, started="t", duration_s=0.1))
    (statement,) = statements(read_runs([run]))
    assert ("Nehalem" in statement.text) == named, statement.text
