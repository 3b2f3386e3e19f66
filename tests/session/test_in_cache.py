"""Rates of arrays that lie in a cache are marked as such: beside the platform's own facts."""

from pathlib import Path

import pytest

from bareline.formats import hpcc
from bareline.probes.base import find_probe
from bareline.session.judge import judge_output
from bareline.vocabulary.caveats import Caveat
from bareline.vocabulary.model import Measured, Output

DATA = Path(__file__).parents[1] / "probes" / "data"


def captured(name):
    text = (DATA / f"{name}.good.out").read_text()
    files = {"hpccoutf.txt": text} if name == "hpcc" else {}
    return Output(stdout=text, stderr="", exit_code=0, duration_s=1.0, files=files)


def marked(name, facts):
    """Give the metrics that carry the caveat, of all."""
    probe = find_probe(name)
    params = probe.make_params({})
    judged = judge_output(probe, params, captured(name), 60.0, facts=facts)
    outcome = judged.outcome
    assert isinstance(outcome, Measured), outcome
    assert "in-cache" not in judged.caveats  # what is marked is the rate, not the trial
    every = {sample.metric for sample in outcome.samples}
    return {one.metric for one in outcome.samples if "in-cache" in one.caveats}, every


@pytest.mark.parametrize("name", ["memory.stream", "memory.random_access"])
def test_an_array_within_the_cache_marks_its_rates(name):
    probe = find_probe(name)
    size_bytes = probe.read(probe.make_params({}), captured(name)).arrays[""]
    found, every = marked(name, {"cpu.l3_bytes": size_bytes})
    assert found == every
    assert marked(name, {"cpu.l3_bytes": size_bytes - 1}) == (set(), every)
    assert marked(name, {"cpu.l2_bytes": size_bytes})[0] == every  # a processor without an L3
    assert marked(name, {}) == (set(), every)


def test_of_a_suite_only_what_is_to_be_memory_s_is_marked():
    found, every = marked("hpcc", {"cpu.l3_bytes": 32 << 20})
    assert {metric.partition("_")[0] for metric in found} == {"stream", "randomaccess"}
    assert "hpl_rate" in every - found
    assert marked("hpcc", {"cpu.l3_bytes": 1024})[0] == set()


def test_a_sentence_says_it_in_a_few_words():
    assert Caveat.read("in-cache").brief == "arrays within the cache"


def test_an_output_is_parsed_once(monkeypatch):
    parses = []
    real = hpcc.read
    monkeypatch.setattr(hpcc, "read", lambda text: parses.append(text) or real(text))
    found, _ = marked("hpcc", {"cpu.l3_bytes": 32 << 20})
    assert found
    assert len(parses) == 1
