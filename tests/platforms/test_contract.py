"""What every platform of real hosts must do, tried on the real thing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from bareline.platforms.base import load_platform_types
from bareline.testing.platforms import MpiContract, PlatformContract

ROOT = {"privilege": "root"}
USER = {"privilege": "user namespace"}


def _case(name, kind, *marks, **options):
    return pytest.param((kind, options), id=name, marks=marks)


root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
netns = pytest.mark.netns
mpi = pytest.mark.mpi
#: Containers that run here; Charliecloud's image is the fixture `skeleton`.
BOXES = {
    f"bwrap-{share}": {"runtime": "bwrap", "image": "host", "share": share}
    for share in ("rank", "node")
}


def _boxed(name, kind, *marks, **options):
    return [
        _case(f"{name}-{box}", kind, *marks, _BWRAP, container=container, **options)
        for box, container in BOXES.items()
    ]


_EACH = {"runtime": "charliecloud", "share": "rank"}
_JOINED = {"runtime": "charliecloud", "share": "node"}
_CH_RUN = pytest.mark.skipif(shutil.which("ch-run") is None, reason="no Charliecloud here")
_BWRAP = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
PLATFORMS = [
    _case("local", "local"),
    _case("local-loop", "local", root, filesystem={"type": "loop-ext4"}),
    _case("netns-root", "netns", netns, **ROOT),
    _case("netns-user", "netns", netns, **USER),
    *_boxed("local", "local"),
    _case("local-charliecloud-node", "local", _CH_RUN, container=_JOINED),
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
    *_boxed("local-openmpi", "local", mpi, mpi="openmpi"),
    _case("local-charliecloud-rank", "local", mpi, _CH_RUN, mpi="openmpi", container=_EACH),
    *_boxed("netns-user-mpich", "netns", mpi, netns, mpi="mpich", **USER)[:1],
]


@pytest.fixture(params=PLATFORMS)
def bench(request, keep_bench, skeleton):
    kind, options = request.param
    return keep_bench(kind, **_furnished(options, skeleton))


@pytest.fixture(params=MPI_PLATFORMS)
def mpi_bench(request, keep_bench, rank_program, skeleton):
    kind, options = request.param
    return keep_bench(kind, rank_program(options["mpi"]), **_furnished(options, skeleton))


def _furnished(options, skeleton):
    """Give containers without an image the one that is there."""
    container = options.get("container", {})
    return {**options, **({"container": skeleton | container} if container else {})}


class TestPlatforms(PlatformContract):
    """Every platform that runs programs."""


class TestMpi(MpiContract):
    """Every platform with each MPI library."""


#: Where types are tried that need more than this machine has at once, or have no hosts.
ELSEWHERE = {
    "ssh": "reached/test_ssh_contract.py",
    "job": "reached/test_job.py",
    "slurm": "reached/test_slurm_contract.py",
    "openstack": "made/openstack/test_contract.py",
    "vm": "made/vm/test_guests.py",
    "sim": "sim/test_simulated.py",
    "null": "../session/test_runner.py",
}


def test_every_type_is_tried():
    here = {case.values[0][0] for case in (*PLATFORMS, *MPI_PLATFORMS)}
    own = {
        name
        for name, kind in load_platform_types().items()
        if kind.__module__.startswith("bareline.")
    }
    assert own == here | ELSEWHERE.keys()
    for name, file in ELSEWHERE.items():
        assert name in (Path(__file__).parent / file).read_text().lower(), file
