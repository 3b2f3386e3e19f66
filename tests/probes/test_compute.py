"""Floating-point probes: planted periods, other modes than the captured ones, a user's own HPL."""

import json
from pathlib import Path

import numpy as np
import pytest

from bareline.probes.base import find_probe
from bareline.probes.compute.noise import find_period
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).with_name("data")
HPL = Path(__file__).parents[1] / "formats" / "data" / "ib-vs-roce" / "ib" / "hpl.Hpl_single.out"
STEP_S, STEPS = 2e-4, 8192


def read(name, text, **params):
    probe = find_probe(name)
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    checked = probe.make_params(params)
    found = {}
    reading = probe.read(checked, output)
    for sample in reading.samples:
        found.setdefault(sample.metric, sample.value)
    return found, reading.caveats


def good(name):
    return (DATA / f"{name}.good.out").read_text()


def ticks(frequency_hz, *, cost=2000.0, noise=50.0, seed=1):
    """Plant a tick of this cost (ns) in the noise of a core."""
    generator = np.random.default_rng(seed)
    series = generator.exponential(noise, STEPS)
    at = np.arange(0.0123, STEPS * STEP_S, 1 / frequency_hz)
    np.add.at(series, (at / STEP_S).astype(int), cost)
    return series


@pytest.mark.parametrize("frequency_hz", [7.3, 33.3, 100.0, 250.0, 300.0, 1000.0])
def test_a_planted_tick_is_found_at_its_own_frequency(frequency_hz):
    period = find_period(ticks(frequency_hz), STEP_S)
    assert period.frequency_hz == pytest.approx(frequency_hz, rel=0.02)
    assert period.share > 0.1


def test_noise_alone_has_no_period():
    shares = [
        find_period(np.random.default_rng(seed).exponential(50, STEPS), STEP_S).share
        for seed in range(20)
    ]
    assert max(shares) < 0.05


def test_the_bands_of_a_spectrum_hold_all_of_it_and_depend_on_the_length_alone():
    one, other = (find_period(ticks(hz, seed=int(hz)), STEP_S).spectrum for hz in (20.0, 250.0))
    assert [edge for edge, _ in one] == [edge for edge, _ in other]
    for spectrum in (one, other):
        assert sum(share for _, share in spectrum) == pytest.approx(1)
    still = find_period([5.0] * STEPS, STEP_S)
    assert (still.frequency_hz, still.share) == (0.0, 0.0)
    assert [edge for edge, _ in still.spectrum] == [edge for edge, _ in one]


def test_a_duration_without_bins_is_refused():
    with raises(ProbeError, "BL-PROBES-897"):
        find_probe("compute.noise").make_params({"duration_s": 0.002})


def test_noise_needs_every_bin():
    header, point, end = map(json.loads, good("compute.noise").splitlines())
    point["lost_ns"].pop()
    text = "\n".join(map(json.dumps, (header, point, end)))
    with raises(ParseError, "BL-PROBES-595", "8192"):
        read("compute.noise", text)


def test_the_share_of_peak_is_that_of_all_cores_that_work_together():
    alone, _ = read("compute.dgemm", good("compute.dgemm"))
    assert alone["share_of_peak"] == pytest.approx(alone["rate"] / alone["peak_rate"])
    assert alone["slowest_core_rate"] == alone["rate"]
    together, _ = read("compute.linpack", good("compute.linpack"))
    assert together["cores"] == 2
    assert together["share_of_peak"] == pytest.approx(together["rate"] / 2 / together["peak_rate"])


def test_a_rate_above_the_peak_is_refused():
    text = good("compute.dgemm")
    peak = json.loads(text.splitlines()[1])["peak_rate"]
    with raises(ParseError, "BL-PROBES-888"):
        read("compute.dgemm", text.replace(f"{peak:g}"[:3], "0.0", 1).replace(str(peak), "1000.0"))


def test_the_output_of_another_mode_or_order_is_refused():
    with raises(ParseError, "BL-PROBES-828"):
        read("compute.dgemm", good("compute.dgemm"), mode="all")
    with raises(ParseError, "BL-PROBES-828", "1000"):
        read("compute.linpack", good("compute.linpack"), n=1100)


def test_a_residual_above_hpls_limit_is_refused():
    header, point, end = map(json.loads, good("compute.linpack_mpi").splitlines())
    point["residual"] = 17.0
    with raises(ParseError, "BL-PROBES-619"):
        read("compute.linpack_mpi", "\n".join(map(json.dumps, (header, point, end))))


def test_a_users_own_hpl_is_read_and_named():
    asked = {"n": 115584, "nb": 192}
    found, caveats = read("compute.linpack_mpi", HPL.read_text(), **asked)
    assert found == {"rate": 8.3295e11, "time": 1235.92}
    assert len(caveats) == 1 and "xhpl" in caveats[0]
    assert read("compute.linpack_mpi", HPL.read_text(), program="xhpl", **asked)[1] == ()


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"n": 115584, "nb": 64}, "BL-PROBES-528"),
        ({"n": 115584, "nb": 192, "program": "scalapack"}, "BL-PROBES-257"),
    ],
)
def test_an_hpl_that_was_not_asked_for_is_refused(params, code):
    with raises(ParseError, code):
        read("compute.linpack_mpi", HPL.read_text(), **params)


def test_truncated_outputs_of_hpl_are_refused():
    text = HPL.read_text()
    for end in (text.index("WR11C2R4"), text.index("WR11C2R4") + 60, text.index("...... PASSED")):
        with pytest.raises(ParseError):
            read("compute.linpack_mpi", text[:end], n=115584, nb=192)


def test_xhpl_gets_an_input_for_all_ranks():
    probe = find_probe("compute.linpack_mpi")
    command = probe.command(probe.make_params({"program": "xhpl", "n": 3000}), Layout(2, 3, 1))
    assert command.requires == ("xhpl",)
    ((name, text),) = command.inputs
    lines = [line.split()[0] for line in text.splitlines()]
    assert name == "HPL.dat"
    assert lines[5] == "3000" and (lines[10], lines[11]) == ("2", "3")


def test_one_thread_leaves_the_number_of_cores_to_the_mode():
    probe = find_probe("compute.dgemm")
    params = probe.make_params({"mode": "star"})
    assert "--threads" not in probe.command(params, Layout(1, 1, 1)).argv
    assert "4" in probe.command(params, Layout(1, 1, 4)).argv
