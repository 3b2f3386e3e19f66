"""What programs tell of their platform when they run: kept as facts, and doubted beside others."""

import json
import stat
from pathlib import Path

import pytest

from bareline.platforms.config import platforms_from_toml
from bareline.platforms.localhost.local import LocalAllocation
from bareline.session import begin
from bareline.session.origin import platforms_of
from bareline.session.reparse import reparse_run
from bareline.study.study import study_from_toml
from bareline.vocabulary.model import Measured

GOOD = Path(__file__).parents[1] / "probes" / "data" / "compute.dgemm.good.out"
KERNELS = "library.blas_kernels"


@pytest.fixture
def dgemm(tmp_path, monkeypatch, execute):
    """Run DGEMM whose program has these kernels, on a processor with these facts."""
    header, *rest = GOOD.read_text().splitlines()
    monkeypatch.delenv("OPENBLAS_CORETYPE", raising=False)

    def go(kernels, facts, run=None, environment=None):
        members = {**json.loads(header), "blas_kernels": kernels}
        if kernels is None:
            del members["blas_kernels"]
        (tmp_path / "out").write_text("\n".join([json.dumps(members), *rest]) + "\n")
        program = tmp_path / "nodebench"
        chosen = f'sed "s/{kernels}/${{OPENBLAS_CORETYPE:-{kernels}}}/g" {tmp_path}/out'
        program.write_text(f"#!/bin/sh\n{chosen}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(LocalAllocation, "native_folder", lambda self: str(tmp_path))
        monkeypatch.setattr(LocalAllocation, "facts", lambda self: dict(facts))
        head = {"name": "s", "launches": 1, "min_launches": 1, "precision": 0}
        study = study_from_toml(
            {"study": head, "measure": [{"probe": "compute.dgemm"}]}, where="test"
        )
        table = {"type": "local", "environment": environment or {}}
        here = platforms_from_toml({"platform": {"here": table}}, where="test")
        if run is None:
            specs = list(here.values())
            run = begin.create_run(study, specs, tmp_path / "run", baseline="here")
        execute(run)
        assert all(isinstance(record.outcome, Measured) for record in run.records())
        return run

    return go


def caveats_of(run):
    return {code for record in run.finished().values() for code in record.caveats} & {
        "generic-blas"
    }


@pytest.mark.parametrize(
    ("kernels", "avx2", "caveats"),
    [
        ("Prescott", True, {"generic-blas"}),
        ("Prescott", False, set()),
        ("SkylakeX", True, set()),
        ("not OpenBLAS", True, set()),
    ],
)
def test_kernels_are_a_fact_and_old_ones_on_a_newer_processor_a_caveat(
    dgemm, kernels, avx2, caveats
):
    run = dgemm(kernels, {"cpu.flags.avx2": avx2})
    assert run.facts() == {"here": {"cpu.flags.avx2": avx2, KERNELS: kernels}}
    assert caveats_of(run) == caveats


def test_a_platform_may_choose_other_kernels_and_its_facts_say_so(dgemm):
    chosen = {"OPENBLAS_CORETYPE": "SkylakeX"}
    run = dgemm("Prescott", {"cpu.flags.avx2": True}, environment=chosen)
    here = run.facts()["here"]
    assert (here[KERNELS], here["environment.OPENBLAS_CORETYPE"]) == ("SkylakeX", "SkylakeX")
    assert caveats_of(run) == set()
    assert platforms_of(run)[0].environment == tuple(chosen.items())


def test_a_program_that_tells_nothing_leaves_no_fact(dgemm):
    run = dgemm(None, {"cpu.flags.avx2": True})
    assert run.facts() == {"here": {"cpu.flags.avx2": True}}
    assert caveats_of(run) == set()


def test_the_fact_outlives_the_platform_coming_up_again(dgemm):
    run = dgemm("Haswell", {"cpu.flags.avx2": True, "load.one_minute": 1.0})
    lines = (run.path / "records.jsonl").read_text().splitlines(keepends=True)
    (run.path / "records.jsonl").write_text("".join(lines[:-1]))
    dgemm(None, {"cpu.flags.avx2": True, "load.one_minute": 2.0}, run)
    here = run.facts()["here"]
    assert here == {"cpu.flags.avx2": True, "load.one_minute": 2.0, KERNELS: "Haswell"}


def test_damaged_facts_are_written_anew_when_a_run_goes_on(dgemm):
    run = dgemm("Haswell", {"cpu.flags.avx2": True})
    (run.path / "facts" / "here.json").write_text("[")
    (run.path / "records.jsonl").write_text("")
    dgemm("Zen", {"cpu.flags.avx2": True}, run)
    assert run.facts()["here"] == {"cpu.flags.avx2": True, KERNELS: "Zen"}


def test_reparsing_finds_both_in_outputs_that_hold_them(dgemm):
    run = dgemm("Prescott", {"cpu.flags.avx2": True})
    before = list(run.records())
    assert reparse_run(run).counts == (1, 0)
    assert list(run.records()) == before
    # As an earlier version left it: neither the fact nor the caveat, and the caveat comes back.
    run.write_facts("here", {"cpu.flags.avx2": True})
    file = run.path / "records.jsonl"
    file.write_text(file.read_text().replace('"generic-blas"', '"edited-away"'))
    assert reparse_run(run).counts == (1, 1)
    assert run.facts()["here"][KERNELS] == "Prescott"
    assert caveats_of(run) == {"generic-blas"}
    # It goes again with what it was founded on.
    run.write_facts("here", {"cpu.flags.avx2": False})
    assert reparse_run(run).counts == (1, 1)
    assert caveats_of(run) == set()


def test_an_output_that_was_damaged_since_fails_its_trial_when_it_is_read_again(dgemm):
    run = dgemm("Prescott", {"cpu.flags.avx2": True})
    raw = run.path / "raw" / "000000.json"
    raw.write_text(json.dumps({**json.loads(raw.read_text()), "stdout": "{"}))
    assert reparse_run(run).counts == (1, 1)
    (record,) = run.finished().values()
    assert record.status == "failed"
