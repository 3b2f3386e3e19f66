"""What every platform must do, on two instances of a cloud."""

from __future__ import annotations

import pytest

from bareline.testing.bench import Bench, keeping
from bareline.testing.platforms import MpiContract, PlatformContract

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kept(_cloud, tmp_path_factory):
    with _cloud.inside(), pytest.MonkeyPatch.context() as patch:
        cache = tmp_path_factory.mktemp("cache")
        cache.chmod(0o700)
        patch.setenv("BARELINE_CACHE", str(cache))
        with keeping(tmp_path_factory.mktemp("kept")) as those:
            yield those


@pytest.fixture
def of_type(kept):
    """Give the hosts that instances are: programs and jobs run on them."""

    def give(rank_program=None):
        usual = {"cloud": "bareline", "image": "stand-in", "flavor": "small"}
        limits = {"reach_s": 120.0, "active_s": 300.0, "connect_s": 20.0}
        found = kept.bench("openstack", rank_program, **usual, **limits, mpi="openmpi")
        return Bench(found.allocation.hosts, found.options, rank_program, platform=found.platform)

    return give


@pytest.fixture
def bench(of_type):
    return of_type()


@pytest.fixture
def mpi_bench(of_type, rank_program):
    return of_type(rank_program("openmpi"))


class TestOpenStack(PlatformContract):
    """Programs."""


@pytest.mark.mpi
class TestOpenStackMpi(MpiContract):
    """MPI jobs; the first instance logs in to the others."""
