"""``predict --ranks N --messages``: the calls of a period by function, and what they rest on."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.messages import basis, message_rows
from bareline.predict.scaling.ranks import scaled
from bareline.profile.period import write_period

from . import halo
from .halo import program

SQUARES = ((2, 2), (2, 4), (4, 4))


def rows_of(*more, target=(8, 8), **how):
    own = scaled([program(sides, (64, 64), *more, **how) for sides in SQUARES])
    grown = own.grown(Grid(target))
    return {row.call: row for row in message_rows(own, grown)}, list(basis(own, grown))


def test_calls_bytes_and_partners_are_those_of_the_program():
    rows, _ = rows_of(halo.rooted(0), ends=True)
    sends = rows["MPI_Isend"]
    # Two ways across seven cuts of eight rows, along both sides; eight cells of 8 B each.
    assert (sends.calls, sends.sent_bytes) == (2 * 2 * 7 * 8, 2 * 2 * 7 * 8 * 64)
    assert (sends.sizes, sends.partners, sends.calls_of_rank) == ((64, 64), (2, 4), (2, 4))
    assert sends.calls_profiled == {"4": 2, "8": 3, "16": 4}
    assert rows["MPI_Bcast"].sent_bytes == 80 and rows["MPI_Bcast"].communicators == (64,)
    assert sends.times_largest == 4 and sends.unchecked_share == 0


def test_what_is_taken_for_granted_is_said():
    _, near = rows_of(halo.late, target=(4, 8))
    assert "Iterations are taken as constant" in near[0]
    assert not any("times the 16 of the largest" in one for one in near)
    _, far = rows_of(target=(8, 16))
    assert any("128 ranks are 8 times the 16 of the largest profile" in one for one in far)
    assert any("Side 2 is taken as cut evenly into 16" in one for one in far)


@pytest.mark.parametrize("as_json", [True, False])
def test_messages_need_no_platform(tmp_path, fits, as_json):
    names = []
    for sides in SQUARES:
        one = program(sides, (64, 64), halo.rooted(0))
        names.append(f"app.p{one.ranks}")
        write_period(one, tmp_path / f"{names[-1]}.period")
    line = [sys.executable, "-m", "bareline", "predict", *names, "--ranks", "64", "--messages"]
    line += ["--json"] if as_json else []
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if as_json:
        rows = json.loads(done.stdout)
        fits("predict-messages", rows)
        assert {row["call"] for row in rows} >= {"MPI_Isend", "MPI_Bcast", "MPI_Allreduce"}
        assert all("4, 8, 16" in row["assumptions"][0] for row in rows)
    else:
        assert "A period of app on 64 ranks (8x8)" in done.stdout
        assert "Iterations are taken as constant" in done.stdout
