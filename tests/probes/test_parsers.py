"""Every probe against its captured output: the contract, mutations, wrong results."""

from dataclasses import replace
from pathlib import Path

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bareline.probes.base import Probe, ProbeReading, find_probe, load_probes
from bareline.testing.messages import raises
from bareline.testing.probes import ProbeContract
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layer, Layout, Metric, Output, Sample

DATA = Path(__file__).with_name("data")
#: Probes whose good output is captured; the name of the file is the name of the probe.
CAPTURED = sorted(path.name.removesuffix(".good.out") for path in DATA.glob("*.good.out"))


#: Probes that read a file of the working directory instead of what is printed.
FILES = {"hpcc": "hpccoutf.txt", "app.gromacs": "water.log"}


def output(text, name="", **more):
    if name in FILES:
        more["files"] = {FILES[name]: text}
        text = ""
    return Output(stdout=text, stderr="", exit_code=0, duration_s=1.0, **more)


def good(name):
    return (DATA / f"{name}.good.out").read_text()


def read(name, text):
    probe = find_probe(name)
    return probe.read(probe.make_params({}), output(text, name)).samples


def test_every_probe_has_a_captured_output():
    assert set(load_probes()) - {"null"} <= set(CAPTURED)


class TestProbes(ProbeContract):
    """Every probe against the contract, truncated outputs and garbage among it."""

    @pytest.fixture(autouse=True, params=CAPTURED)
    def _each(self, request):
        self.probe = find_probe(request.param)
        self.captured = DATA / f"{request.param}.good.out"
        self.result_file = FILES.get(request.param, "")


@pytest.mark.parametrize("name", CAPTURED)
def test_good_outputs_give_no_other_metrics_than_the_declared(name):
    samples = read(name, good(name))
    probe = find_probe(name)
    promised = probe.delivers(probe.make_params({}))
    assert {sample.metric for sample in samples} == set(promised)


@pytest.mark.parametrize("name", CAPTURED)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_mutated_outputs_give_the_same_numbers_or_an_error(name, data):
    """Delete, repeat or replace a piece: what is read is what was measured, or nothing is."""
    text = good(name)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start, min(len(text), start + 60)))
    piece = data.draw(st.sampled_from(["", text[start:end] * 2, "x", "\n", " ", "warning: slow\n"]))
    mutated = text[:start] + piece + text[end:]
    before = {_key(sample): sample.value for sample in read(name, text)}
    try:
        samples = read(name, mutated)
    except ParseError:
        return
    for sample in samples:
        if before.get(_key(sample)) != sample.value:
            # Damage inside a number cannot be told from another number; a number that moved to
            # another metric or size can.
            assert _damaged_in_place(text, start, end)


def _key(sample):
    return sample.metric, tuple(sorted(sample.point.items()))


def _damaged_in_place(text, start, end):
    """Tell whether a mutation touched the characters of a number."""
    around = text[max(0, start - 1) : end + 1]
    return any(character.isdigit() for character in around)


@pytest.mark.parametrize("name", CAPTURED)
def test_negative_times_and_rates_are_refused(name, monkeypatch):
    probe = find_probe(name)
    params = probe.make_params({})
    samples = read(name, good(name))
    for metric, declared in probe.delivers(params).items():
        if declared.unit == "1":
            continue
        turned = [
            replace(s, value=-abs(s.value) or -1.0) if s.metric == metric else s for s in samples
        ]
        monkeypatch.setattr(
            type(probe), "parse", lambda *_, turned=turned: ProbeReading(tuple(turned))
        )
        with raises(ParseError, "BL-PROBES-871", str(metric)):
            probe.read(params, output(""))


NATIVE = [name for name in CAPTURED if good(name).startswith('{"bareline"')]


@pytest.mark.parametrize("name", NATIVE)
def test_a_wrong_result_is_never_a_number(name):
    text = good(name).replace('"verified":true', '"verified":false', 1)
    with raises(ParseError, "BL-PROBES-329"):
        read(name, text)


@pytest.mark.parametrize("name", NATIVE)
def test_the_output_of_another_benchmark_is_refused(name):
    other = next(candidate for candidate in NATIVE if candidate != name)
    with raises(ParseError, "BL-PROBES-121"):
        read(name, good(other))


@pytest.mark.parametrize("name", NATIVE)
def test_lost_and_repeated_points_are_noticed(name):
    lines = good(name).splitlines()
    with pytest.raises(ParseError):
        read(name, "\n".join([*lines[:1], *lines[2:]]))
    with pytest.raises(ParseError):
        read(name, "\n".join([*lines[:2], *lines[1:]]))


class PreviousForm(Probe[type(find_probe("null").make_params({}))]):
    """A plug-in for version 0.3: samples, caveats, facts and arrays by a method each."""

    name = "compute.previous"
    layer = Layer.COMPUTE
    title = "the previous form"
    summary = "a probe of a plug-in for version 0.3"
    params = type(find_probe("null").make_params({}))
    metrics = {"rate": Metric("B/s", "higher")}  # noqa: RUF012

    def command(self, params, layout):
        raise NotImplementedError

    def parse(self, params, output):
        yield Sample("rate", float(output.stdout))

    def caveats(self, params, output):
        return ["cut"]

    def facts(self, params, output):
        return {"cpu.model": output.stderr}

    def arrays(self, params, output):
        return {"rate": 8}


def test_the_methods_of_version_0_3_complete_samples_alone():
    text = Output(stdout="2.5", stderr="Xeon", exit_code=0, duration_s=1.0)
    reading = PreviousForm().read(None, text)
    assert reading.samples == (Sample("rate", 2.5),)
    assert reading.caveats == ("cut",)
    assert reading.facts == {"cpu.model": "Xeon"}
    assert reading.arrays == {"rate": 8}
    with raises(ParseError, "BL-PROBES-871", "rate"):
        PreviousForm().read(None, replace(text, stdout="-1"))


def test_cut_points_are_a_caveat():
    probe = find_probe("mpi.pingpong")
    text = good("mpi.pingpong")
    assert probe.read(probe.make_params({}), output(text)).caveats == ()
    params = probe.make_params({"max_bytes": 8 << 20})
    cut = text.replace('"cut":[]', '"cut":[{"point":{"size_bytes":8388608},"reason":"slow"}]')
    assert probe.read(params, output(cut)).caveats == ("cut",)


def test_listed_sizes_take_the_place_of_powers_of_two():
    probe = find_probe("mpi.allreduce")
    params = probe.make_params({"sizes_bytes": "8,1000,65536", "max_bytes": 64})
    assert params.sizes(8) == [8, 1000, 65536]
    argv = probe.command(params, Layout(1, 2)).argv
    assert argv[argv.index("--sizes") + 1] == "8,1000,65536" and "-m" not in argv
    for wrong in ("8,", "8,8", "64,8", "eight", "-8", f"{1 << 31}", ",".join(map(str, range(40)))):
        with pytest.raises(ProbeError):
            probe.make_params({"sizes_bytes": wrong})


def test_pingpong_bandwidth_is_size_over_latency():
    samples = {_key(sample): sample.value for sample in read("mpi.pingpong", good("mpi.pingpong"))}
    at = (("size_bytes", 65536),)
    assert samples["bandwidth", at] == pytest.approx(65536 / samples["latency", at])
    assert ("bandwidth", (("size_bytes", 0),)) not in samples


@pytest.mark.parametrize(
    ("found", "replacement"),
    [
        ("rate_Mbps=", "rate_Mbps=9"),  # another magnitude than amount over time
        ("retrans=", "retrans=-"),
        ("tx_cpu=", "tx_cpu=x"),
        ("rtt_ms=", "rtt="),
        ("real_seconds=", "real_seconds=9"),
    ],
)
def test_nuttcp_figures_that_contradict_each_other_are_refused(found, replacement):
    with pytest.raises(ParseError):
        read("net.nuttcp", good("net.nuttcp").replace(found, replacement))


def test_nuttcp_with_several_streams_tells_no_retransmissions():
    probe = find_probe("net.nuttcp")
    # Captured: nuttcp 6.1.2 -fparse -N 4 on a machine of ours.
    text = (
        "megabytes=1844.3750 real_seconds=1.00 rate_Mbps=15509.0070 tx_cpu=44 rx_cpu=53 "
        "rtt_ms=0.10\n"
    )
    reading = probe.read(probe.make_params({"streams": 4}), output(text))
    assert {sample.metric for sample in reading.samples} == set(probe.metrics) - {"retransmissions"}
    with raises(ParseError, "BL-PROBES-285"):
        read("net.nuttcp", text)


def test_datagrams_and_streams_of_nuttcp_are_not_taken_for_each_other():
    for name, other, code in (
        ("net.nuttcp", "net.nuttcp_udp", "BL-PROBES-691"),
        ("net.nuttcp_udp", "net.nuttcp", "BL-PROBES-280"),
    ):
        with raises(ParseError, code):
            read(name, good(other))


@pytest.mark.parametrize(("rate_mbps", "limit"), [(0, "-Ru"), (100, "-R100m")])
def test_datagrams_are_sent_at_a_rate_or_as_fast_as_can_be(rate_mbps, limit):
    probe = find_probe("net.nuttcp_udp")
    params = probe.make_params({"rate_mbps": rate_mbps})
    argv = probe.command(params, Layout(2)).argv
    assert limit in argv and "-u" in argv and argv[argv.index("-l") + 1] == "1400"
