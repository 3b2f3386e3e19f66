"""The importers against bareline's contract, and what they give of captured outputs."""

import json
from pathlib import Path

import pytest
from bareline_contrib import asv, githubbench, googlebench, perfkit, phoronix, ramble

from bareline.formats.files import read_text
from bareline.session.intake import import_files
from bareline.testing.importers import ImporterContract
from bareline.vocabulary.model import Failed, Measured, Stage

DATA = Path(__file__).parent / "data"
IMPORTERS = {
    one.IMPORTER.name: one.IMPORTER
    for one in (asv, githubbench, googlebench, perfkit, phoronix, ramble)
}


class TestImporters(ImporterContract):
    @pytest.fixture(
        autouse=True,
        params=sorted((*DATA.glob("*.out"), *DATA.glob("[cu]*/*.out"))),
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


STORE = "unprotected/githubbench.three-commits.out"


def store():
    return json.loads((DATA / STORE).read_text())


def read_store(content, prefix=""):
    text = prefix + json.dumps(content, indent=2)
    return [found.imported for found in read_text(text, Path("data.js"))]


def test_github_action_benchmark_gives_a_trial_for_every_result():
    trials = read(STORE)
    assert len(trials) == 9
    fib, http, pytest_fib = trials[:3]
    assert (fib.probe, fib.params, values(fib)) == ("githubbench.fib_15", {}, {"time": 8120e-9})
    assert http.params == {"name": "http2/parallel x10"}
    assert pytest_fib.params == {"name": "bench.py::test_fib_10", "suite": "Python"}
    assert values(pytest_fib) == {"rate": 59573.923048}
    assert (fib.metrics["time"].better, pytest_fib.metrics["rate"].better) == ("lower", "higher")
    assert [trial.platform for trial in trials[::3]] == ["1110f1e2", "2220f1e2", "3330f1e2"]


@pytest.mark.parametrize("prefix", ["window.BENCHMARK_DATA = ", "\nwindow.BENCHMARK_DATA="])
def test_github_action_benchmark_is_read_as_a_script(prefix):
    assert [values(one) for one in read_store(store(), prefix)] == [
        values(one) for one in read(STORE)
    ]


@pytest.mark.parametrize(
    ("unit", "tool", "name", "base", "factor", "better"),
    [
        ("ns/iter", "cargo", "time", "s", 1e-9, "lower"),
        ("ms/op", "jmh", "time", "s", 1e-3, "lower"),
        ("ops/s", "jmh", "rate", "op/s", 1, "higher"),
        ("iter/sec", "pytest", "rate", "op/s", 1, "higher"),
        ("B/op", "go", "memory", "B", 1, "lower"),
        ("allocs/op", "go", "value_allocs_op", "1", 1, "lower"),
        ("MB/s", "go", "bandwidth", "B/s", 1e6, "higher"),
        ("Percent", "customBiggerIsBetter", "value", "%", 1, "higher"),
        ("us", "customBiggerIsBetter", "time", "s", 1e-6, "higher"),
        ("cycles", "customSmallerIsBetter", "value_cycles", "1", 1, "lower"),
        ("cycles", "a tool of 2031", "value_cycles", "1", 1, "none"),
        ("", "customSmallerIsBetter", "value", "1", 1, "lower"),
    ],
)
def test_github_action_benchmark_units(unit, tool, name, base, factor, better):
    content = store()
    entry = content["entries"]["Benchmark"][0]
    entry["tool"] = tool
    entry["benches"][0] |= {"unit": unit, "value": 3}
    trial = read_store(content)[0]
    assert values(trial) == {name: pytest.approx(3 * factor)}
    assert (trial.metrics[name].unit, trial.metrics[name].better) == (base, better)


@pytest.mark.parametrize(
    ("bench", "why"),
    [
        ({"name": "x", "value": 0, "unit": "ns/iter"}, "a time of 0"),
        ({"name": "x", "value": -1, "unit": "ns"}, "'value' = -1"),
        ({"name": "x", "value": "12", "unit": "ns"}, "'value' = 12"),
        ({"name": "x", "value": float("nan"), "unit": "ns"}, "'value' = nan"),
        ({"name": "x", "unit": "ns"}, "'value' is missing"),
        ({"name": "x", "value": 12}, "'unit' is missing"),
        ({"name": 5, "value": 12, "unit": "ns"}, "'name' = 5"),
        ({}, "'name' is missing"),
    ],
)
def test_a_damaged_result_of_github_action_benchmark_spoils_no_other(bench, why):
    content = store()
    content["entries"]["Benchmark"][0]["benches"].insert(1, bench)
    trials = read_store(content)
    assert isinstance(trials[1].outcome, Failed) and why in trials[1].outcome.reason
    assert sum(isinstance(trial.outcome, Measured) for trial in trials) == 9


@pytest.mark.parametrize(
    "spoil",
    [
        lambda entry: entry.pop("commit"),
        lambda entry: entry["commit"].update(id=""),
        lambda entry: entry["commit"].update(id=["a"]),
        lambda entry: entry.update(commit="3f2a"),
        lambda entry: entry.update(date="yesterday"),
        lambda entry: entry.update(benches=[]),
        lambda entry: entry.update(benches={}),
    ],
)
def test_a_damaged_entry_of_github_action_benchmark_spoils_no_other(spoil):
    content = store()
    spoil(content["entries"]["Benchmark"][0])
    trials = read_store(content)
    failed = [trial for trial in trials if isinstance(trial.outcome, Failed)]
    assert [trial.probe for trial in failed] == ["githubbench.unknown"]
    assert len(trials) == 8


def test_a_launch_of_github_action_benchmark_is_the_same_in_a_later_store():
    content = store()
    early = githubbench.split(json.dumps(content, indent=2))
    content["lastUpdate"] += 86_400_000
    content["entries"]["Python"].pop()
    assert githubbench.split(json.dumps(content, indent=2)) == early[:5]
    assert len({githubbench.IMPORTER.identity(launch) for launch in early}) == 6


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


def test_perfkit_gives_the_metrics_of_a_run_as_one_trial_of_each_case():
    latencies, runtime = read("composed/perfkit.v1_ping.out")
    assert latencies.probe == "perfkit.ping"
    assert latencies.platform == "GCP n2-standard-8 us-central1-a"
    assert latencies.params == {"vm_count": 2, "ip_type": "internal"}
    assert values(latencies) == pytest.approx(
        {"Min_Latency": 213e-6, "Average_Latency": 254e-6, "Max_Latency": 731e-6}
    )
    assert (runtime.params, values(runtime)) == ({"vm_count": 2}, {"End_to_End_Runtime": 173.44})


def test_perfkit_repetitions_are_trials_and_metadata_is_the_case():
    trials = read("composed/perfkit.v1_iperf.out")
    assert len(trials) == 6
    assert trials[0].params == {
        "vm_count": 2, "sending_thread_count": 1, "protocol": "TCP", "runtime_in_seconds": 60,
    }  # fmt: skip
    assert len({trial.case() for trial in trials}) == 2
    single = [trial for trial in trials if trial.params["sending_thread_count"] == 1]
    assert [values(trial)["Throughput"] for trial in single] == pytest.approx(
        [9410.2e6, 9388.7e6, 9401.5e6]
    )
    assert "hostnames = pkb-4f1d-0,pkb-4f1d-1: the platform" in trials[0].ignored


def test_perfkit_reads_collapsed_labels():
    text = (DATA / "composed" / "perfkit.v1_iperf.out").read_text()
    line = json.loads(text.splitlines()[0])
    metadata = line.pop("metadata")
    line["labels"] = ",".join(f"|{key}:{value}|" for key, value in metadata.items())
    (found,) = read_text(json.dumps(line) + "\n", Path("labels"))
    assert found.imported.params["sending_thread_count"] == 1
    assert found.imported.platform == "GCP n2-standard-8 us-central1-a"


def test_perfkit_damage_is_local():
    found = read_text((DATA / "spoiled" / "perfkit.v1_damaged.out").read_text(), Path("damaged"))
    assert set(values(found[0].imported)) == {"Min_Latency", "Average_Latency"}
    reasons = [str(each) for each in found[0].left_out]
    assert len(reasons) == 3
    assert "line 3: 'value' = nan is not a valid measurement" in reasons
    assert "line 4: 'Median Latency' = 0 may be a value that the program lacks" in reasons


def test_perfkit_run_without_a_value_has_failed():
    (trial,) = read("spoiled/perfkit.v1_empty.out")
    assert isinstance(trial.outcome, Failed)
    assert "no sample with a value" in trial.outcome.reason


def test_perfkit_runs_of_one_file_are_launches():
    texts = [
        (DATA / "composed" / f"perfkit.v1_{name}.out").read_text() for name in ("ping", "iperf")
    ]
    found = read_text("".join([*texts, texts[0]]), Path("runs"))
    assert len({(each.first_line, each.imported.probe) for each in found}) == 3


def test_perfkit_zones_of_two_groups_are_one_platform():
    text = (DATA / "composed" / "perfkit.v1_ping.out").read_text().splitlines()[0]
    text = text.replace('"image"', '"receiving_zone": "us-west1-b", "image"')
    (found,) = read_text(text + "\n", Path("zones"))
    assert found.imported.platform == "GCP n2-standard-8 us-central1-a+us-west1-b"


def test_phoronix_gives_a_trial_of_each_run():
    trials = read("composed/phoronix.v10_stream.out")
    assert [values(trial)["result"] for trial in trials] == [41188.2e6, 41230.9e6, 41212.7e6]
    assert {trial.probe for trial in trials} == {"phoronix.pts_stream"}
    assert {trial.platform for trial in trials} == {"node 7"}
    assert trials[0].metrics["result"].better == "higher"
    assert trials[0].params == {
        "Arguments": "Triad", "AppVersion": "2013-01-17", "test_version": "1.3.4",
    }  # fmt: skip
    assert "Title = Stream: a label" in trials[0].ignored
    (fast, _) = read("composed/phoronix.v10_build.out")
    assert (values(fast), fast.metrics["result"].better) == ({"result": 63.127}, "lower")


def phoronix_with(old, new, name="composed/phoronix.v10_stream.out"):
    text = (DATA / name).read_text()
    assert old in text
    return [found.imported for found in read_text(text.replace(old, new), Path(name))]


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("<Value>41210.6", "<Value>42110.6", "not the mean of RawString"),
        ("<Value>41210.6", "<Value>0", "not a valid measurement"),
        (":41230.9:", ":4123O.9:", "is not a number"),
        (":41230.9:", ":41230:9:", "not the mean of RawString"),
        ("<!--Phor", "<!DOCTYPE x [<!ENTITY a 'b'>]><!--Phor", "declares a type or entities"),
        ("<Title>node 7", "<Title>&b;", "the XML is damaged"),
        ("<Title>node 7", "<a><b><c><d><e><f><g>", "nested more than 8 deep"),
        ("BAR_GRAPH", "LINE_GRAPH", "is not a figure"),
        ("<JSON></JSON>", "<Value>41210.6</Value>", "'Value' appears twice"),
        ("<Scale>MB/s</Scale>", "<Scale>MB/s</Scale><Scale>s</Scale>", "'Scale' appears twice"),
        ("        <Identifier>node 7</Identifier>", "", "'Identifier' is missing"),
        ("<Identifier>node 7</Identifier>\n        <V", "<Identifier/><V", "names no system"),
        ("<Scale>MB/s</Scale>", "", "'Scale' is missing"),
        ("stream-1.3.4", "stream-x.3.4", "not the identifier of a test"),
        ("<RawString>41188.2:41230.9:41212.7</RawString>", "", "'RawString' is missing"),
    ],
)
def test_doubtful_phoronix_results_fail_with_a_reason(old, new, reason):
    (trial,) = phoronix_with(old, new)
    assert isinstance(trial.outcome, Failed)
    assert reason in trial.outcome.reason


def test_entities_that_multiply_are_refused_at_once():
    laughs = "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 12))
    bomb = f"<!DOCTYPE x [<!ENTITY a0 'ha'>{laughs}]>\n"
    (trial,) = phoronix_with("<!--Phor", f"{bomb}<!--Phor")
    assert "declares a type or entities" in trial.outcome.reason


def test_phoronix_documents_with_too_many_elements_are_refused(monkeypatch):
    monkeypatch.setattr(phoronix, "_MOST_ELEMENTS", 10)
    (trial,) = read("composed/phoronix.v10_stream.out")
    assert "more than 10 elements" in trial.outcome.reason


def test_phoronix_systems_are_platforms_and_a_lost_value_costs_itself():
    lost, other, *build = read("spoiled/phoronix.v10_no_value.out")
    assert (lost.platform, lost.outcome.reason) == ("node 7", "the test gave no value")
    assert (other.platform, values(other)) == ("node 8", {"result": 40011.3e6})
    assert len(build) == 2
    (torn,) = read("spoiled/phoronix.v10_torn.out")
    assert "truncated" in torn.outcome.reason


def test_perfkit_metadata_that_is_not_finite_is_a_text():
    text = (DATA / "composed" / "perfkit.v1_iperf.out").read_text().splitlines()[0]
    text = text.replace('"runtime_in_seconds": 60', '"runtime_in_seconds": 1e999')
    (found,) = read_text(text + "\n", Path("infinite"))
    assert "runtime_in_seconds=inf" in found.imported.case().params


@pytest.mark.parametrize(("name", "trials"), [("perfkit.v1_iperf", 6), ("phoronix.v10_stream", 3)])
def test_every_repetition_is_kept_in_a_run(name, trials, tmp_path):
    intake = import_files([DATA / "composed" / f"{name}.out"], None, tmp_path / "run")
    assert [row["trial"] for row in intake.rows] == list(range(trials))
    again = import_files([DATA / "composed" / f"{name}.out"], None, tmp_path / "run")
    assert all(row["trial"] is None for row in again.rows)


def test_phoronix_documents_that_are_too_large_to_split_keep_their_means(monkeypatch):
    monkeypatch.setattr(phoronix, "_MOST_SPLIT_BYTES", 100)
    (trial,) = read("composed/phoronix.v10_stream.out")
    assert values(trial) == {"result": 41210.6e6}
    assert trial.caveats == ("the value is that of 3 runs",)


def test_a_failure_of_a_phoronix_document_is_named_once():
    text = (DATA / "composed" / "phoronix.v10_stream.out").read_text()
    broken = text[text.index("  <Result>") : text.index("</PhoronixTestSuite>")]
    broken = broken.replace("41210.6", "0")
    found = read_text(
        text.replace("</PhoronixTestSuite>", f"{broken}</PhoronixTestSuite>"), Path("x")
    )
    assert sum(isinstance(each.imported.outcome, Failed) for each in found) == 1
    assert len(found) == 4
