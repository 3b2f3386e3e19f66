"""Whose kernels a BLAS ran: from the headers of our programs, from what others print."""

import json
from pathlib import Path

import pytest

from bareline.probes._native import TELL_KERNELS
from bareline.probes.base import find_probe
from bareline.vocabulary.model import Layout, Output

DATA = Path(__file__).with_name("data")
HPL = Path(__file__).parents[1] / "formats" / "data" / "ib-vs-roce" / "ib" / "hpl.Hpl_single.out"
OWN = ("compute.dgemm", "compute.linpack", "compute.linpack_mpi", "app.planewave")
FILES = {"hpcc": "hpccoutf.txt"}
KEY = "library.blas_kernels"
#: As OpenBLAS prints it, once a process, among a launcher's words.
PRINTED = "Core: Haswell\n[node1] a word\nCore: Prescott\nCore: Haswell\n"


def facts(name, text, stderr="", **params):
    """Return the BLAS's fact of an output with this text, in the file that the program writes."""
    probe = find_probe(name)
    files = {FILES[name]: text} if name in FILES else {}
    output = Output(stdout=text, stderr=stderr, exit_code=0, duration_s=1.0, files=files)
    reported = probe.read(probe.make_params(params), output).facts
    return {key: value for key, value in reported.items() if key == KEY}


def good(name):
    return (DATA / f"{name}.good.out").read_text()


def headed(name, **members):
    """Give the captured output of a program with these members in its header."""
    header, *rest = good(name).splitlines()
    return "\n".join([json.dumps({**json.loads(header), **members}), *rest])


@pytest.mark.parametrize("name", OWN)
def test_our_programs_tell_it_in_their_header(name):
    for kernels in ("Prescott", "SkylakeX", "not OpenBLAS"):
        assert facts(name, headed(name, blas_kernels=kernels)) == {KEY: kernels}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("members", [{"blas_kernels": ""}, {"blas_kernels": 7}])
def test_what_is_not_told_is_an_absent_fact(name, members):
    assert facts(name, headed(name, **members)) == {}


@pytest.mark.parametrize("name", OWN)
def test_the_captured_outputs_tell_it(name):
    assert facts(name, good(name))


def test_a_users_own_hpl_and_hpcc_print_it():
    kernels = {KEY: "Haswell, Prescott"}
    assert facts("compute.linpack_mpi", HPL.read_text(), PRINTED, n=115584, nb=192) == kernels
    assert facts("hpcc", good("hpcc"), PRINTED) == kernels
    assert facts("hpcc", good("hpcc"), "no word of it\n") == {}


@pytest.mark.parametrize("name", ["compute.linpack_mpi", "hpcc", "app.quantum_espresso"])
def test_programs_without_a_header_are_made_to_print_it(name):
    probe = find_probe(name)
    command = probe.command(probe.make_params({}), Layout(1, 2, 1))
    assert TELL_KERNELS in command.env


def test_only_a_program_that_was_told_to_print_it_is_read():
    stderr = "Core: 5\n"  # its own word, not OpenBLAS's
    assert facts("app.lammps", good("app.lammps"), stderr) == {}
    assert facts("app.quantum_espresso", good("app.quantum_espresso"), PRINTED)
