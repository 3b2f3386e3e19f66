"""How busy others keep the machine: counted without bareline's own, recorded, a caveat."""

import os
import subprocess
import sys
import time

import pytest

from bareline.host.load import LoadReading, foreign_cores, parse_busy_s, processor_s, read_load
from bareline.testing.messages import raises

BURN = "import time\nwhile time.process_time() < {s}: pass"


def test_what_is_ours_is_taken_off():
    before = LoadReading(0.0, 100.0, 10.0, 5.0)
    after = LoadReading(2.0, 103.0, 10.5, 6.0)
    assert foreign_cores(before, after) == pytest.approx(0.75)
    assert foreign_cores(before, after, helpers_s=1.0) == pytest.approx(0.25)
    assert foreign_cores(before, after, helpers_s=9.0) == 0.0


def test_the_first_line_counts_processes_only():
    tick = 1 / os.sysconf("SC_CLK_TCK")
    assert parse_busy_s("cpu  10 2 3 4000 5 6 7 8 0 0\ncpu0 ...") == pytest.approx(15 * tick)
    with raises(ValueError, "BL-HOST-325"):
        parse_busy_s("intr 1 2 3 4 5")


def test_a_child_that_was_waited_for_is_ours():
    before = read_load()
    subprocess.run([sys.executable, "-c", BURN.format(s=0.4)], check=True)
    after = read_load()
    assert after.own_s - before.own_s > 0.2


def test_a_process_of_others_is_seen(tmp_path):
    """Somebody else's: not waited for between the readings."""
    other = subprocess.Popen([sys.executable, "-c", BURN.format(s=30)])
    try:
        time.sleep(0.3)
        before, mine = read_load(), processor_s((other.pid,))
        time.sleep(0.5)
        after, used = read_load(), processor_s((other.pid,)) - mine
        assert foreign_cores(before, after) * (after.at_s - before.at_s) >= 0.8 * used > 0
        helped = foreign_cores(before, after, helpers_s=used)
        assert helped < foreign_cores(before, after)
    finally:
        other.kill()
        other.wait()


def test_processes_that_are_gone_count_nothing():
    assert processor_s((2**22 + 1,)) == 0.0
