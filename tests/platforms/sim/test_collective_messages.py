"""The simulator's collective functions send what the real library's send, counted by Open MPI.

The whole table: `python benchmarks/collective_messages.py`.
"""

import shutil

import collective_messages
import pytest

pytestmark = [
    pytest.mark.sim,
    pytest.mark.mpi,
    pytest.mark.skipif(shutil.which("smpirun") is None, reason="SimGrid is not installed"),
]

SIZES = (8, 256, 4096, 65_536, 262_144)
#: Powers of two, even and odd numbers between them.
RANKS = (2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32)


@pytest.mark.parametrize("ranks", RANKS)
def test_every_function_sends_the_library_s_messages(ranks):
    for call, library, simulator in collective_messages.compare(
        ranks, collective_messages.FUNCTIONS, SIZES
    ):
        assert collective_messages.alike(library, simulator), (call, ranks, library, simulator)


@pytest.mark.slow
def test_small_messages_of_64_ranks():
    for call, library, simulator in collective_messages.compare(
        64, collective_messages.FUNCTIONS, (8, 1024)
    ):
        assert collective_messages.alike(library, simulator), (call, library, simulator)


def test_a_small_all_reduce_doubles_on_4_to_32_ranks():
    for ranks in (4, 8, 16, 32):
        ((_, library, simulator),) = collective_messages.compare(ranks, ["allreduce"], [8])
        steps = ranks.bit_length() - 1
        assert library.number == simulator.number == ranks * steps
