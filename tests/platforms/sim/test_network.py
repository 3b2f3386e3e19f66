"""The simulated network: factors, algorithms, options; no simulator is started."""

import tomllib
from itertools import pairwise

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from bareline.platforms.config import make_spec
from bareline.platforms.sim import compute
from bareline.platforms.sim.cluster import collectives, costs_within, made_anew, settings
from bareline.platforms.sim.network import (
    SimulatedNetwork,
    constant,
    preset,
    presets,
    seconds_at,
    stretches,
)
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

CURVE = ((0, 10e-6), (1024, 12e-6), (65_536, 80e-6), (4 << 20, 3600e-6))


def at(text, size):
    """Read thresholds with start and slope: the last one below the size, else the first."""
    found = [part.split(":") for part in text.split(";")]
    _, start, *slope = ([part for part in found if int(part[0]) < size] or found[:1])[-1]
    return float(start) + (float(slope[0]) * size if slope else 0.0)


def time_of(network, size):
    """Add up what the simulated cluster does for a message."""
    port = network.port_bytes_per_s
    costs = network.costs()
    envelope = 16 * at(costs["seconds_per_byte"], size)  # added by SMPI, taken out again
    wait = max(at(costs["latency_s"], size) - envelope, 1e-9)
    wire = wait + (size + 16) * max(at(costs["seconds_per_byte"], size), 1 / port)
    overhead = seconds_at(network.departure_s, size) + seconds_at(network.receive_overhead_s, size)
    return wire + (overhead if size < network.eager_bytes else 0)


@pytest.mark.parametrize("overhead", [0.0, 2e-6])
def test_factors_give_the_curve_back(overhead):
    network = SimulatedNetwork(CURVE, *[constant(overhead)] * 3, 65_536, "test")
    for size, seconds in CURVE:
        assert time_of(network, size) == pytest.approx(seconds, rel=0.0051)
    assert 12e-6 < time_of(network, 30_000) < 80e-6


def at_or_above(text, size):
    """Read what the harness is told: there a stretch begins at its threshold."""
    return at(text, size + 1e-9)


def test_overheads_grow_with_the_size_and_go_with_the_rendezvous():
    sending, leaving = ((0, 6e-6), (64, 6e-6), (1024, 9e-6)), ((0, 4e-6), (512, 5e-6))
    network = SimulatedNetwork(CURVE, sending, constant(2e-6), leaving, 65_536, "test")
    for size, seconds in ((0, 6e-6), (64, 6e-6), (544, 7.5e-6), (1024, 9e-6), (9999, 9e-6)):
        assert at(stretches(sending), size) == pytest.approx(seconds)
    text = network.busy_after()
    for size, seconds in ((0, 2e-6), (512, 2.4e-6), (1024, 4e-6), (65_535, 4e-6), (65_536, 0)):
        assert at_or_above(text, size) == pytest.approx(seconds, abs=1e-12)
    assert at(network.busy_before(), 544) == pytest.approx(7.5e-6)
    assert at(network.busy_before(), 65_536) == 0
    # Also between the sizes of the curve, and just before sender and receiver meet.
    for size in (0, 64, 300, 512, 800, 1024, 30_000, 65_535, 65_536, 4 << 20):
        assert time_of(network, size) == pytest.approx(seconds_at(CURVE, size), rel=0.0051), size


def test_overheads_of_large_messages_alone_count_for_smaller_ones_in_proportion():
    sending = ((0, 1e-6), (1 << 20, 1e-6 + 1e-4))
    network = SimulatedNetwork(CURVE, sending, constant(2e-6), constant(1e-6), 65_536, "test")
    assert at(network.busy_after(), 60_000) == pytest.approx(1e-4 * 60_000 / (1 << 20))


def test_a_stretch_that_is_faster_than_the_largest_message_is_not_held_up_by_the_port():
    # Between 64 and 128 KiB the curve rises half as fast as beyond.
    curve = ((0, 10e-6), (65_536, 100e-6), (131_072, 140e-6), (1 << 20, 1200e-6))
    network = SimulatedNetwork(curve, *[constant(4e-6)] * 3, 65_536, "test")
    assert network.port_bytes_per_s > 1.5 * network.bytes_per_s
    for size, seconds in curve:
        assert time_of(network, size) == pytest.approx(seconds, rel=0.0051), size


@given(st.lists(st.floats(1e-7, 1e-2), min_size=2, max_size=12), st.floats(0, 1e-4))
def test_any_curve_gives_factors_that_are_positive_and_times_that_do_not_fall(times, overhead):
    sizes = [0, *(2**k for k in range(1, len(times)))]
    curve = tuple(zip(sizes, times, strict=True))
    network = SimulatedNetwork(curve, *[constant(overhead)] * 3, 1 << 40, "test")
    costs = network.costs()
    for text in (costs["latency_s"], costs["seconds_per_byte"]):
        assert all(float(part.split(":")[1]) > 0 for part in text.split(";"))
    wire = network.wire()
    assert all(before <= after for (_, before), (_, after) in pairwise(wire))


def test_named_networks_say_where_they_come_from_and_are_ordered():
    latency = {name: preset(name).latency_s for name in presets()}
    assert latency["ib-qdr"] < latency["tcp-over-ib"] < latency["10g"] < latency["10g-vm"]
    assert all(table["source"] for table in presets().values())


def test_algorithms_follow_the_library_and_what_the_user_names():
    assert collectives("openmpi", {}) == {"smpi/coll-selector": "ompi"}
    assert "bcast" in made_anew("openmpi", {})
    chosen = {"allreduce": "rdb", "alltoallv": "ompi"}
    named = collectives("mpich", chosen)
    assert named["smpi/coll-selector"] == "mpich"
    assert (named["smpi/allreduce"], named["smpi/alltoallv"]) == ("rdb", "ompi")
    assert made_anew("mpich", {}) == ()
    assert not {"allreduce", "alltoallv"} & set(made_anew("openmpi", chosen))


def test_within_a_node_a_message_takes_the_same_time_below_and_above_the_limit():
    options = make_spec("s", {"type": "sim", "network": "1g"}, where="test").options
    for eager_bytes in (4096, 65_536):
        costs = costs_within(options, eager_bytes)
        assert at(costs["seconds_per_byte"], 1 << 20) == pytest.approx(1 / 5e9)
        for size in (0, 4095, 4096, 65_535, 65_536):
            overheads = at(costs["departure_s"], size) + at(costs["receive_s"], size)
            assert at(costs["latency_s"], size) + overheads == pytest.approx(4e-7)


def test_a_job_on_one_node_is_told_nothing_of_the_network():
    """Only what is between nodes differs between platforms."""
    told = [
        settings(make_spec("s", table, where="test").options, preset(table["network"]), 1, "x")
        for table in ({"type": "sim", "network": name} for name in presets())
    ]
    within = [[line for line in text.splitlines() if "within." in line] for text in told]
    assert within[0] and all(lines == within[0] for lines in within)


def test_recordings_keep_the_lowest_mean_over_ranks():
    loud = "1 -2 0 5 1 2 3e-6\n1 -2 0 5 1 2 5e-6\n"
    quiet = "1 -2 0 5 1 4 2e-6\n"
    stretch = compute.merge([loud, quiet])
    assert stretch == {(1, -2, 0, 5, 1): (4, pytest.approx(2e-6))}
    recording = compute.Recording(stretch, 1.5, "")
    assert recording.timed_s(ranks=2) == pytest.approx(4e-6)
    assert recording.to_inject(2.0) == "1 -2 0 5 1 4 6e-06\n"
    with raises(PlatformError, "BL-PLATFORMS-423"):
        compute.merge(["1 2 three"])


def test_a_recording_is_read_back_and_damage_is_none(tmp_path):
    path = tmp_path / "compute" / "x.toml"
    recording = compute.Recording({(1, -2, 0, 5, 1): (4, 2e-6)}, 1.25, "three recordings")
    compute.save(path, recording, {"program": "npb_cg", "ranks": 2})
    assert compute.load(path) == recording
    path.write_text(path.read_text()[:40])
    assert compute.load(path) is None


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ({}, "BL-PLATFORMS-224"),
        ({"network": "10g", "curve": [[0, 1e-6], [8, 2e-6]]}, "BL-PLATFORMS-224"),
        ({"network": "10gb"}, "BL-PLATFORMS-523"),
        ({"curve": [[8, 1e-6], [16, 2e-6]]}, "BL-PLATFORMS-913"),
        ({"curve": [[0, 1e-6], [8, 0.0]]}, "BL-PLATFORMS-613"),
        ({"network": "1g", "nodes": 10**12}, "BL-PLATFORMS-613"),
        ({"curve": CURVE, "send_overhead_s": [[0, 1e-6], [0, 2e-6]]}, "BL-PLATFORMS-913"),
        ({"curve": CURVE, "departure_s": [[64, 1e-6]]}, "BL-PLATFORMS-913"),
        ({"curve": CURVE, "receive_overhead_s": -1.0}, "BL-PLATFORMS-613"),
        ({"network": "1g", "loopback_overhead_s": 1e-6}, "BL-PLATFORMS-514"),
        ({"network": "1g", "messages_per_s": 0}, "BL-PLATFORMS-613"),
    ],
)
def test_impossible_options_are_refused_with_their_name(table, code):
    key = list(table)[-1] if code == "BL-PLATFORMS-613" else ""
    with raises(PlatformError, code, key):
        make_spec("s", {"type": "sim", **table}, where="test")


@pytest.mark.parametrize("sending", [3e-6, [[0, 3e-6], [1024, 5e-6]]])
def test_overheads_come_back_from_a_platform_file_as_they_were(sending):
    """One number, as earlier versions wrote it, and a list by size."""
    table = {"type": "sim", "curve": CURVE, "send_overhead_s": sending, "departure_s": 2e-6}
    spec = make_spec("s", table, where="test")
    written = tomllib.loads(tomli_w.dumps(spec.to_dict()))
    again = make_spec("s", written, where="test")
    assert again.options == spec.options
    network = again.options.resolve()
    assert seconds_at(network.send_overhead_s, 1024) == (
        5e-6 if isinstance(sending, list) else 3e-6
    )
    assert network.departure_s == constant(2e-6)
