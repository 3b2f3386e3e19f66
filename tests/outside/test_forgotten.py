"""The contract of platforms notices what a type of one's own forgets, and names it."""

from contextlib import contextmanager

import pytest

from bareline.platforms.base import Platform, load_platform_types
from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.platforms.hosts.launchers.job import Node
from bareline.platforms.localhost.local import LocalAllocation, LocalOptions, LocalPlatform
from bareline.testing.bench import open_bench
from bareline.testing.messages import raises
from bareline.testing.platforms import PlatformContract, forgotten_of
from bareline.vocabulary.errors import PlatformError


class Wrapped(LocalAllocation):
    """Puts something before programs, and forgets MPI."""

    def node_argv(self, node, argv, env, cwd=None):
        return ["nice", *super().node_argv(node, argv, env, cwd)]


class Both(Wrapped):
    def mpi_argv(self, argv, layout, env, cwd=None):
        return ["nice", *super().mpi_argv(argv, layout, env, cwd)]


class Bare(HostsAllocation):
    """Says how a program starts, and nothing else."""

    def node_argv(self, node, argv, env, cwd=None):
        return list(argv)

    def facts(self):
        return {}


class Own(Platform):
    type_name = "own"
    summary = "one of one's own"
    options = LocalOptions

    @contextmanager
    def acquire(self, layout):
        yield Bare([Node("localhost", "127.0.0.1", 1)])


class Unacquired(Platform):
    type_name = "unacquired"


def test_a_forgotten_mpi_argv_is_named():
    (told,) = forgotten_of(Wrapped, LocalPlatform)
    assert (
        "Wrapped defines the start of a program (node_argv) and leaves to LocalAllocation" in told
    )
    assert "also write mpi_argv" in told
    assert forgotten_of(Both, LocalPlatform) == []


def test_a_forgotten_build_is_named():
    (told,) = forgotten_of(LocalAllocation, Own)
    assert "Own has nodes for bareline's own programs and no build" in told


def test_methods_that_must_be_written_are_named_with_what_they_do(tmp_path):
    does = (HostsAllocation.mpi_argv.__doc__ or "").partition("\n")[0].removesuffix(".")
    methods = (f"mpi_argv ({does})", "native_folder (", "work_folder (")
    with raises(PlatformError, "BL-TESTING-641", "Bare", *methods), open_bench(Own, tmp_path):
        pass


def test_a_type_without_acquire_or_options_is_named(tmp_path):
    with (
        raises(PlatformError, "BL-TESTING-780", "Unacquired", "acquire"),
        open_bench(Unacquired, tmp_path),
    ):
        pass


def test_bareline_forgets_nothing_itself():
    list(load_platform_types())  # imports every module that has an allocation
    kinds = [one for one in _below(HostsAllocation) if one.__module__.startswith("bareline.")]
    assert {"LocalAllocation", "NetnsAllocation", "SlurmAllocation"} <= {k.__name__ for k in kinds}
    assert [told for kind in kinds for told in forgotten_of(kind)] == []


def _below(kind):
    for one in kind.__subclasses__():
        yield from (one, *_below(one))


class Dropping(LocalPlatform):
    """Takes every layer that a local platform takes, and brings up none of them."""

    type_name = "dropping"

    @contextmanager
    def acquire(self, layout):
        plain = self.spec.options.model_copy(update={"neighbours": None})
        yield LocalAllocation(plain, self.context, None)


@pytest.mark.parametrize("layer", ["container", "filesystem", "neighbours"])
def test_a_layer_that_is_taken_and_left_out_is_named(tmp_path, layer):
    contract = PlatformContract().test_a_layer_that_its_options_take_is_there
    told = pytest.raises(AssertionError, match=rf"Dropping.*\b{layer}\b")
    with open_bench(Dropping, tmp_path) as bench, told:
        contract(bench, layer, tmp_path)


def test_a_type_that_names_its_allocation_keeps_every_layer(tmp_path):
    kind = type("Kept", (LocalPlatform,), {"type_name": "kept", "allocation": Both})
    with open_bench(kind, tmp_path, neighbours={"count": 1, "load": "idle"}) as bench:
        assert type(bench.allocation) is Both
        assert bench.allocation.facts()["neighbours.count"] == 1
