"""MPI jobs as every platform must run them, in guests of this release and of a newer one.

Open MPI 5, whose guests are of trixie, is tried with all other tests; this release's libraries are
tried as well where ``BARELINE_GUESTS=all`` is set: other tests of guests start jobs with these.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bareline.testing.bench import Bench
from bareline.testing.platforms import MpiContract
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import Layout

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.timeout(900)]
#: Open MPI 5 is trixie's library; its programs are those that Open MPI 4.1 built here.
GUESTS = {
    "openmpi-5": {"mpi": "openmpi", "release": "trixie"},
    "openmpi": {"mpi": "openmpi"},
    "mpich": {"mpi": "mpich"},
}
#: Each takes two to three minutes on a busy machine, and trixie's image as much, once.
TRIED = [*GUESTS] if os.environ.get("BARELINE_GUESTS") == "all" else ["openmpi-5"]


@pytest.fixture(scope="module", params=TRIED)
def mpi_bench(request, open_guests, rank_program):
    """Two guests, which see the program's folder at its own path."""
    options = GUESTS[request.param]
    program = rank_program(options["mpi"])
    folder = str(Path(program).parent)
    share = {"source": folder, "target": folder, "kind": "9p"}
    memory = {"size_bytes": "448MiB"}
    try:
        with open_guests(
            acceleration="tcg", cpu={"count": 1}, memory=memory, shares=[share], **options
        ) as guests:
            allocation = guests.allocation
            yield Bench(allocation, allocation.options, program)
    except PlatformError as error:
        if "release" in options and "give no release" in error.what:
            pytest.skip(str(error))
        raise


class TestGuests(MpiContract):
    """MPI jobs in two guests."""

    def test_mpi_facts_name_the_library_that_is_used(self, mpi_bench):
        facts = mpi_bench.allocation.facts()
        assert facts["mpi.flavour"] == mpi_bench.options.mpi
        assert facts["mpi.version"].startswith("5.") == (mpi_bench.options.release == "trixie")

    def test_bareline_s_own_programs_measure(self, mpi_bench):
        argv = ("{native}/mpibench", "pingpong", "-m", "8:64", "-i", "20", "-t", "10")
        output = mpi_bench.run(*argv, mpi=True, layout=Layout(2, 1, 1), timeout_s=200)
        assert output.exit_code == 0, (output.timed_out, output.stdout, output.stderr)
        assert '"end":true' in output.stdout
