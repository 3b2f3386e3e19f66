"""Causes below a program: another MPI library, another kernel."""

from bareline.analysis.judgements.causes.cause import Word

from .planted import explained, found, names


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
    assert one.word is Word.DIFFERS
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
