"""Memory probes: points that were cut, figures that contradict each other, what is derived."""

import json
from pathlib import Path

import pytest

from bareline.probes.base import find_probe
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError, ProbeError
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).with_name("data")


def lines(name):
    return [json.loads(line) for line in (DATA / f"{name}.good.out").read_text().splitlines()]


def read(name, rows, **params):
    probe = find_probe(name)
    text = "\n".join(map(json.dumps, rows)) + "\n"
    output = Output(stdout=text, stderr="", exit_code=0, duration_s=1.0)
    made = probe.make_params(params)
    reading = probe.read(made, output)
    return reading.samples, reading.caveats


def test_working_sets_are_powers_of_two_and_what_lies_between():
    probe = find_probe("memory.latency")
    params = probe.make_params({"min_bytes": 4096, "max_bytes": 12288, "pages": "huge"})
    sizes = [4096, 6144, 8192, 12288]
    assert params.points() == [{"page_bytes": 2 << 20, "working_set_bytes": n} for n in sizes]
    with raises(ProbeError, "BL-PROBES-858"):
        probe.make_params({"min_bytes": 5000, "max_bytes": 5001})


def test_a_page_size_that_the_node_does_not_give_is_a_caveat_and_no_number():
    header, *points, end = lines("memory.latency")
    huge = [point for point in points if point["point"]["page_bytes"] == 2 << 20]
    small = [point for point in points if point not in huge]
    end["points"] = len(small)
    end["cut"] = [{"point": point["point"], "reason": "no 2 MiB pages"} for point in huge]
    samples, caveats = read("memory.latency", [header, *small, end])
    assert {sample.point["page_bytes"] for sample in samples} == {4096}
    assert caveats == ("pages-not-given",)


def test_a_point_of_another_page_size_is_refused():
    rows = lines("memory.latency")
    assert rows[1]["point"]["page_bytes"] == 4096
    rows[1]["point"]["page_bytes"] = 16384
    with raises(ParseError, "BL-PROBES-263"):
        read("memory.latency", rows)


def test_wrong_words_above_one_percent_are_refused():
    header, point, end = lines("memory.random_access")
    words = point["point"]["size_bytes"] // 8
    point["errors"] = words // 100
    assert read("memory.random_access", [header, point, end])
    point["errors"] = words // 100 + 1
    with raises(ParseError, "BL-PROBES-771"):
        read("memory.random_access", [header, point, end])


def test_bandwidth_of_a_core_is_that_of_all_over_their_number():
    header, *rest = lines("memory.stream")
    header["threads"] = 4
    samples, _ = read("memory.stream", [header, *rest], mode="all")
    found = {(sample.metric, sample.point["kernel"]): sample.value for sample in samples}
    each = found["bandwidth_per_core", "triad"]
    assert each == pytest.approx(found["bandwidth", "triad"] / 4)


def test_all_cores_are_the_programs_own_choice():
    probe = find_probe("memory.stream")
    single = probe.command(probe.make_params({}), Layout(1, 1, 3)).argv
    every = probe.command(probe.make_params({"mode": "all"}), Layout(1, 1, 3)).argv
    assert single[single.index("--threads") + 1] == "3"
    assert "--threads" not in every
