"""The importers against bareline's contract, and what they give of captured outputs."""

from pathlib import Path

import pytest
from bareline_contrib import asv, googlebench, ramble

from bareline.formats.files import read_text
from bareline.testing.importers import ImporterContract
from bareline.vocabulary.model import Failed, Measured, Stage

DATA = Path(__file__).parent / "data"
IMPORTERS = {one.IMPORTER.name: one.IMPORTER for one in (asv, googlebench, ramble)}


class TestImporters(ImporterContract):
    @pytest.fixture(
        autouse=True,
        params=sorted((*DATA.glob("*.out"), *DATA.glob("composed/*.out"))),
        ids=lambda file: file.name,
    )
    def _each(self, request):
        self.importer = IMPORTERS[request.param.name.partition(".")[0]]
        self.captured = request.param


def read(name):
    return [found.imported for found in read_text((DATA / name).read_text(), Path(name))]


def values(trial):
    return {sample.metric: sample.value for sample in trial.outcome.samples}


def test_google_benchmark_repetitions_are_one_launch():
    plain = read("googlebench.plain.out")
    assert (plain[0].probe, plain[0].params) == ("googlebench.BM_copy", {"arg1": 1024})
    assert values(plain[0]) == {
        "time": pytest.approx(7.1936098969332214e-9),
        "cpu_time": pytest.approx(7.1880537520486802e-9),
        "bandwidth": 1.4245858967152936e11,
    }
    repeated = read("googlebench.repetitions.out")
    assert len(repeated) == len(plain) == 5
    times_ns = (7.1130494145024192, 7.0686014796120551, 7.0575169823632713,
                7.0383491301880570, 7.0334743936904456)  # fmt: skip
    assert values(repeated[0])["time"] == pytest.approx(sorted(times_ns)[2] * 1e-9)
    assert len(read("googlebench.aggregates.out")) == 3


def test_google_benchmark_arguments_threads_and_counters():
    *_, sort = read("googlebench.plain.out")
    assert sort.params == {"n": 10000, "real_time": True}
    assert values(sort)["time"] == pytest.approx(3.1305773102395412e-4)
    assert (values(sort)["swaps"], sort.metrics["swaps"].better) == (42.5, "none")
    one, two = (one for one in read("googlebench.complexity.out") if "threads" in one.probe)
    assert (one.threads, two.threads) == (1, 2)


def test_google_benchmark_that_failed_is_kept():
    bad, good = read("spoiled/googlebench.error.out")
    assert bad.outcome == Failed(Stage.EXIT, "device not found")
    assert isinstance(good.outcome, Measured)


def test_asv_gives_a_trial_for_every_set_of_parameters():
    trials = {(one.probe, *one.params.values()): one for one in read("asv.sorting.out")}
    assert values(trials["asv.bench.Sorting.time_sorted", 10000, "random"]) == {
        "time": 0.000391633999242913
    }
    memory = trials["asv.bench.Sorting.peakmem_sorted", 1000, "sorted"]
    assert values(memory) == {"memory": 24674304}
    assert {one.platform for one in trials.values()} == {
        "vm efae553c existing-py_opt_asv_bin_python"
    }


def test_asv_benchmarks_that_raised_are_failures():
    half, zero, raises = read("spoiled/asv.failing.out")
    assert isinstance(half.outcome, Measured)
    assert zero.params == {"param1": 0}
    assert {zero.outcome.stage, raises.outcome.stage} == {Stage.EXIT}


def test_ramble_repeats_are_trials_and_their_summary_is_none():
    trials = read("composed/ramble.three-repeats.out")
    assert len(trials) == 3
    assert len({one.case() for one in trials}) == 1
    points = {dict(s.point).get("context"): s.value for s in trials[0].outcome.samples}
    assert points == pytest.approx(
        {None: 4.21, "Message Size: 8": 1.62e-6, "Message Size: 1024": 2.41e-6}
    )


def test_ramble_failures_are_kept():
    stages = [getattr(one.outcome, "stage", None) for one in read("spoiled/ramble.failing.out")]
    assert stages == [None, Stage.EXIT, Stage.TIMEOUT, Stage.ABSENT]
