"""What libraries said of where ranks are and what carries messages, as it was captured."""

from pathlib import Path

import pytest

from bareline.probes._place import library_named, read_place
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Output

DATA = Path(__file__).with_name("data") / "place"


def read(name, change=str):
    text = change((DATA / f"{name}.out").read_text(encoding="utf-8"))
    return read_place(Output(stdout=text, stderr="", exit_code=0, duration_s=1.0))


@pytest.mark.parametrize(
    ("name", "library", "carriers", "kinds"),
    [
        ("openmpi-btl", "Open MPI 4.1.4", ("BTL vader",), {"shm"}),
        ("openmpi-mtl", "Open MPI 4.1.4", ("MTL ofi",), {"other"}),
        ("openmpi-ucx", "Open MPI 4.1.4", ("UCX cma/memory", "UCX sysv/memory"), {"shm"}),
        ("mpich-ucx", "MPICH 4.0.2", ("UCX tcp/eth0", "UCX tcp/lo"), {"tcp"}),
    ],
)
def test_each_library_says_what_carries_messages(name, library, carriers, kinds):
    seen = read(name)
    assert (seen.library, seen.built_with, seen.carriers) == (library, library, carriers)
    assert seen.kinds == kinds


def test_the_processors_of_every_rank_are_read():
    bound, free = read("openmpi-ucx").ranks, read("mpich-ucx").ranks
    assert [rank.cpus for rank in bound] == [{0}, {1}]
    assert [(rank.cores, rank.packages, rank.machine_numa) for rank in bound] == [(1, {0}, 1)] * 2
    assert [rank.cpus for rank in free] == [{0, 1}] * 2


def test_a_launcher_of_another_library_is_told_from_one_job():
    seen = read("foreign-launcher")
    assert (seen.jobs, seen.built_with, seen.ranks) == (2, "Open MPI 4.1.4", ())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", "Open MPI 4.1.4"),
        ("MPICH Version: 4.0.2", "MPICH 4.0.2"),
        ("Intel(R) MPI Library 2021.13 for Linux* OS", "Intel MPI 2021.13"),
        ("MVAPICH2 Version: 2.3", ""),
    ],
)
def test_a_library_is_named_by_its_own_words(text, named):
    assert library_named(text) == named


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('{"end":true,"points":2}', ""),
        lambda text: text.replace('"cpus":"0"', '"cpus":"zero"'),
        lambda text: text.replace('"cores":1', '"cores":"one"'),
    ],
)
def test_what_is_not_whole_is_refused(change):
    with pytest.raises(ParseError):
        read("openmpi-ucx", change)
