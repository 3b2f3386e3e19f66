"""The programs of benchmarks/halo.c on real ranks: what is predicted is what they call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.hosts.launchers.installation import find_mpi
from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.ranks import scaled
from bareline.profile.period import read_period
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError, BarelineError

from .test_programs import asked
from .test_ranks import SETTINGS

SOURCE = Path(__file__).parents[3] / "benchmarks" / "halo.c"
pytestmark = [pytest.mark.mpi, pytest.mark.slow]


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    """Return the period of a generated program on so many ranks."""
    try:
        mpi = find_mpi("openmpi")
        build_native(mpi, cache_folder())
    except BarelineError as error:
        pytest.skip(str(error))
    if mpi.mpicc is None:
        pytest.skip("Open MPI has no mpicc here")
    folder = tmp_path_factory.mktemp("halo")
    program = folder / "halo"
    subprocess.run([mpi.mpicc, "-O1", str(SOURCE), "-o", str(program)], check=True)

    def period(ranks, *settings):
        out = folder / f"{'-'.join(settings)}.p{ranks}"
        line = [sys.executable, "-m", "bareline", "profile", "--period", "-o", str(out), "--"]
        line += [mpi.mpirun, "-n", str(ranks), str(program), "steps=8", *settings]
        ended = subprocess.run(
            line, env=os.environ | SETTINGS, cwd=folder, capture_output=True, text=True,
            check=False, timeout=400,
        )  # fmt: skip
        assert ended.returncode == 0, ended.stderr
        return read_period(out.with_name(f"{out.name}.period"))

    return period


def test_a_ring_with_roots_tiles_and_a_monitor(profiled):
    settings = ("cells=4096", "complex", "roots", "tiles", "monitor")
    own = scaled([profiled(ranks, *settings) for ranks in (4, 8)])
    made = own.grown(own.grid(16))
    true = profiled(16, *settings)
    calls = [
        [[call for call in own if call[0].kind not in ("done", "posix-io")] for own in asked(trace)]
        for trace in (made.trace, true.trace)
    ]
    assert calls[0] == calls[1]


def test_half_a_complex_number_is_not_sent(profiled):
    own = scaled([profiled(ranks, "cells=24x24", "complex") for ranks in (4, 8, 16)])
    assert {
        shape.element
        for stream in own.largest.trace.streams
        for shape in stream.shapes
        if shape.call == "MPI_Isend"
    } == {16}
    with raises(AnalysisError, "BL-PREDICT-899", "1.5", "16"):
        own.grown(Grid((4, 16)))
