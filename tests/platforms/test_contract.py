"""What every platform of real hosts must do, tried on the real thing."""

from __future__ import annotations

import os

import pytest

from bareline.testing.platforms import MpiContract, PlatformContract

ROOT = {"privilege": "root"}
USER = {"privilege": "user namespace"}


def _case(name, kind, *marks, **options):
    return pytest.param((kind, options), id=name, marks=marks)


root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
netns = pytest.mark.netns
mpi = pytest.mark.mpi
PLATFORMS = [
    _case("local", "local"),
    _case("local-loop", "local", root, filesystem={"type": "loop-ext4"}),
    _case("netns-root", "netns", netns, **ROOT),
    _case("netns-user", "netns", netns, **USER),
]
MPI_PLATFORMS = [
    _case("local-openmpi-shm", "local", mpi, mpi="openmpi", transport="shm"),
    _case("local-openmpi-tcp", "local", mpi, mpi="openmpi", transport="tcp"),
    _case("local-mpich-shm", "local", mpi, mpi="mpich", transport="shm"),
    _case("local-mpich-tcp", "local", mpi, mpi="mpich", transport="tcp"),
    _case("netns-root-openmpi", "netns", mpi, netns, mpi="openmpi", **ROOT),
    _case("netns-root-mpich", "netns", mpi, netns, mpi="mpich", rate="1gbit", **ROOT),
    _case("netns-user-openmpi", "netns", mpi, netns, mpi="openmpi", rate="1gbit", **USER),
    _case("netns-user-mpich", "netns", mpi, netns, mpi="mpich", **USER),
]


@pytest.fixture(params=PLATFORMS)
def bench(request, keep_bench):
    kind, options = request.param
    return keep_bench(kind, **options)


@pytest.fixture(params=MPI_PLATFORMS)
def mpi_bench(request, keep_bench, rank_program):
    kind, options = request.param
    return keep_bench(kind, rank_program(options["mpi"]), **options)


class TestPlatforms(PlatformContract):
    """Every platform that runs programs."""


class TestMpi(MpiContract):
    """Every platform with each MPI library."""
