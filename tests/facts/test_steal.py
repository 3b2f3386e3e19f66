"""Processor time that a hypervisor takes away."""

from __future__ import annotations

from pathlib import Path

import pytest

from bareline.facts.steal import StealReading, parse_stat, steal_caveats, steal_ratio


def test_steal_is_a_share_of_the_wanted_time() -> None:
    # 64 idle processors do not dilute what one rank lost.
    before = parse_stat("cpu  100 0 100 900000 5 0 0 10 7 7\ncpu0 1 2\n")
    after = parse_stat("cpu  180 0 100 964000 5 0 0 30 7 7\n")
    assert before == StealReading(10, 210)
    assert steal_ratio(before, after) == pytest.approx(0.2)
    assert steal_caveats(before, after) == ("steal-time",)


def test_one_tick_is_no_steal() -> None:
    before = StealReading(10, 1000)
    assert steal_caveats(before, StealReading(11, 1010)) == ()
    assert steal_caveats(before, before) == ()
    assert steal_caveats(None, before) == ()


@pytest.mark.parametrize(
    "text", ["", "cpu", "cpu 1 2 3", "intr 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"]
)
def test_no_steal_counter(text: str) -> None:
    assert parse_stat(text) is None


def test_steal_of_this_machine() -> None:
    before, after = (parse_stat(Path("/proc/stat").read_text()) for _ in range(2))
    assert before is not None
    assert after is not None
    assert after.wanted >= before.wanted
