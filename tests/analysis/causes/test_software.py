"""Causes below a program: another MPI library, another kernel."""

import pytest

from bareline.analysis.judgements.causes.cause import CauseStatus
from bareline.analysis.numbers.programs import Split

from .planted import explained, found, names, share_of


def guest(mpi="4.1.4", kernel="6.1.0-50-amd64", kind="virtual machine", flavour="openmpi"):
    return {
        "mpi.flavour": flavour,
        "mpi.version": mpi,
        "kernel.release": kernel,
        "virt.kind": kind,
    }


def test_another_version_of_the_mpi_library_is_said():
    one = explained(found("mpi.allreduce", 1.4), facts=guest(mpi="5.0.7"), base=guest())
    assert names(one) == ["MPI library"]
    assert "Open MPI 5.0.7, the baseline Open MPI 4.1.4" in one.standing[0].words
    assert one.word is CauseStatus.DIFFERS
    other = explained(found("npb.cg", 1.4), facts=guest(flavour="mpich"), base=guest())
    assert "MPICH 4.1.4" in other.standing[0].words
    assert not explained(found("compute.dgemm", 1.4), facts=guest(mpi="5.0.7"), base=guest()).known


def test_another_kernel_is_said_between_guests_and_not_between_a_guest_and_its_host():
    loss = found("net.nuttcp", 1.4, nodes=2)
    one = explained(loss, facts=guest(kernel="5.10.0-46-amd64"), base=guest())
    assert names(one) == ["kernel"]
    assert "Linux 5.10, the baseline's is 6.1" in one.standing[0].words
    newer = guest(kernel="6.12.94+deb13-amd64")
    for program in ("npb.cg", "app.ocean"):  # they communicate, too
        told = explained(found(program, 1.4, nodes=2), facts=newer, base=guest())
        assert names(told) == ["kernel"]
    assert not explained(found("compute.dgemm", 1.4), facts=newer, base=guest()).known
    same = guest(kernel="6.1.0-47-cloud-amd64")
    assert "kernel" not in names(explained(loss, facts=same, base=guest()))
    host = guest(kernel="6.18.44", kind="bare metal")
    assert "kernel" not in names(explained(loss, facts=guest(), base=host))


def test_other_compiler_flags_are_named_where_code_was_compiled():
    """A build that lost -O3 had no known cause, although its platform sets other flags."""
    own, base = {"environment.CFLAGS": "-O2  -g"}, {"environment.CFLAGS": "-O3"}
    for probe in ("app.stencil", "npb.cg", "compute.dgemm", "memory.stream"):
        one = explained(found(probe, 1.85), facts=own, base=base)
        assert names(one) == ["compiler flags"] and one.word is CauseStatus.DIFFERS
        assert "(CFLAGS -O2 -g instead of -O3)" in one.standing[0].words
    assert not explained(found("net.nuttcp", 1.85, nodes=2), facts=own, base=base).known


def test_flags_that_only_one_platform_sets_are_named_and_equal_ones_are_not():
    base = {"environment.CFLAGS": "-O3", "environment.FFLAGS": "-O3"}
    one = explained(found("app.stencil", 1.85), facts={"environment.FFLAGS": "-O3"}, base=base)
    assert "(CFLAGS unset instead of -O3)" in one.standing[0].words
    alike = explained(found("app.stencil", 1.85), facts={}, base={"environment.CFLAGS": " "})
    assert not names(alike)
    assert alike.absent["compiler flags"].startswith("none of CFLAGS")


def test_flags_of_any_length_and_kind_stay_in_one_sentence():
    odd = {"environment.CFLAGS": "-DX=" + "y" * 5000 + "\n\t-O2", "environment.LDFLAGS": 7}
    (cause,) = explained(found("app.stencil", 1.85), facts=odd).standing
    assert "\n" not in cause.words and len(cause.words) < 500
    assert "LDFLAGS 7 instead of unset" in cause.words


def test_compiler_flags_share_the_computing_of_a_program():
    """Its own part took longer, and DGEMM, which no flag of the build changes, did not."""
    slower = found("memory.stream", 1.8, half=1.02)
    one = explained(
        found("app.stencil", 1.8, half=1.02),
        slower,
        facts={"environment.CFLAGS": "-O2"},
        base={"environment.CFLAGS": "-O3"},
        splits=_OneRank(),
    )
    assert names(one) == ["compiler flags"] and one.word is CauseStatus.EXPLAINS
    assert share_of(one, "compiler flags").value == pytest.approx(0.8, rel=0.05)


class _OneRank:
    """All programs compute alone."""

    def of(self, platform, place):
        return Split(1.0, 0.0, "with one rank")
