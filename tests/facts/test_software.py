"""Versions of MPI libraries and compilers."""

from __future__ import annotations

import pytest

from bareline.facts.system import compiler_version, mpi_version


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mpirun (Open MPI) 4.1.4\n\nReport bugs to", ("openmpi", "4.1.4")),
        ("mpirun.openmpi (OpenRTE) 4.1.4\n", ("openmpi", "4.1.4")),
        ("HYDRA build details:\n    Version:         4.0.2\n", ("mpich", "4.0.2")),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2018 Update 3 Build",
            ("intel", "2018 Update 3"),
        ),
        ("command not found", (None, None)),
    ],
)
def test_mpi_version(text: str, expected: tuple[str | None, str | None]) -> None:
    assert mpi_version(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", "12.2.0"),
        ("GNU Fortran (GCC) 11.4.1 20230605 (Red Hat 11.4.1-2)", "11.4.1"),
        ("\nnvc 23.9-0 64-bit target on x86-64 Linux", "23.9"),
        ("", None),
    ],
)
def test_compiler_version(text: str, expected: str | None) -> None:
    assert compiler_version(text) == expected
