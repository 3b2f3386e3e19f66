"""Causes in the software below a program: container, file system, MPI library and kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping

from bareline.analysis.judgements.causes.case import Facts, LossCase, Rule, bound_below
from bareline.analysis.judgements.causes.cause import Cause, NoCause, Term
from bareline.analysis.judgements.causes.share import Share
from bareline.analysis.numbers.row import Row
from bareline.vocabulary.facts import format_fact
from bareline.vocabulary.model import Layer
from bareline.vocabulary.sanitize import sanitized_name
from bareline.vocabulary.units import format_size, listing

#: Up to this size, MPI libraries copy a message twice in any case: into memory that ranks share,
#: and out of it. They copy a longer message once, directly from the sender's memory (CMA).
_COPIED_TWICE_BYTES = 4096
#: The number of messages by which sender and receiver agree before a message is sent in pieces.
_HANDSHAKE = 2
#: Facts that must be equal, so that two containers differ only in their namespaces.
_BESIDE = ("container.runtime", "container.image", "container.image_hash", "mpi.version")


def user_namespaces(case: LossCase) -> Cause | NoCause:
    """Judge whether each rank has its own user namespace.

    The kernel then does not permit ranks to read the memory of other ranks. A comparison with a
    platform whose ranks share a container on each node bounds the cost, or shows that it is 0.
    """
    namespaces, base_namespaces = case.both("container.userns")
    if namespaces != "per-rank":
        return NoCause("its ranks share a user namespace")
    if base_namespaces == namespaces:
        return NoCause("both have a user namespace for each rank")
    nodes = max(1, case.place.ran_on)
    if case.place.ranks <= nodes:
        return NoCause("no ranks share a node")
    size = case.place.size_bytes
    if size is None or size <= _COPIED_TWICE_BYTES:
        least = format_size(_COPIED_TWICE_BYTES)
        return NoCause(f"only messages above {least} within a node are copied once without it")
    words = "each rank has a user namespace of its own, so that its messages are copied twice"
    most = _most(case, size)
    share = None
    if most is not None:
        share = Share.at_most(most - 1)
    cause = Cause(words, (Term.COPIES,), share)
    for other, facts in case.others:
        alike = all(case.facts.get(key) == facts.get(key) for key in _BESIDE)
        shared = alike and facts.get("container.userns") == "per-node"
        ratio = None
        if shared:
            ratio = case.against(other)
        if ratio is not None and case.point.ratio is not None:
            where = f"on {other.platform}, where they share one"
            return bound_below(ratio, case.point.ratio, cause, where)
    return cause


def _most(case: LossCase, size: int) -> float | None:
    """Return the largest factor by which a second copy can slow down a message, or None.

    The factor is computed from smaller messages, which are copied twice in any case. It assumes
    that the copies do not overlap.
    """
    pieces = []
    for finding in case.findings:
        for point in finding.compared:
            if point.place.series == case.place.series:
                pieces += _copied_twice(point)
    once_s = _time_s(case.point, size)
    if not pieces or once_s is None:
        return None
    piece, twice_s = max(pieces)
    return max(1.0, (size / piece + _HANDSHAKE) * twice_s / once_s)


def _copied_twice(point: Row) -> list[tuple[int, float]]:
    """Return size and time of a small message, which is copied twice; empty for a large one."""
    size = point.place.size_bytes
    if not size:
        return []
    if size > _COPIED_TWICE_BYTES:
        return []
    if point.ratio is None:
        return []
    base_s = _time_s(point, size)
    if base_s is None:
        return []
    return [(size, point.ratio.value * base_s)]


def _time_s(point: Row, size: int) -> float | None:
    """Return the baseline's time of a message of `size` bytes; None without a value."""
    if point.base is None or point.base.value <= 0:
        return None
    if not point.rate:
        return point.base.value
    amount = 1
    if point.metric.unit == "B/s":
        amount = size
    return amount / point.base.value


def file_system(case: LossCase) -> Cause | NoCause:
    """Judge whether the file systems of the two platforms differ."""
    name = file_system_name(case.facts)
    base_name = file_system_name(case.baseline_facts)
    if name == base_name:
        return NoCause(f"both are {name}")
    return Cause(f"its file system is another one ({name} against {base_name})", (Term.FILES,))


def file_system_name(facts: Facts) -> str:
    """Return a file system's type with the place of its data, e.g. its server or its bricks."""
    kind = str(facts["fs.type"])
    if below := facts.get("fs.below"):
        return f"{kind} in a file on {below}"
    if bricks := facts.get("fs.bricks"):
        noun = "bricks"
        if bricks == 1:
            noun = "brick"
        return f"GlusterFS of {bricks} {noun}"
    if server := facts.get("fs.server"):
        return f"{kind} of a server {format_fact('fs.server', server)}"
    if facts.get("fs.striping"):
        return f"{kind}, striped: {facts['fs.striping']}"
    return kind


def kind_of_disk(case: LossCase) -> Cause | NoCause:
    """Judge whether one platform has a rotating disk and the other a disk that does not rotate."""
    rotates, base_rotates = case.both("fs.disk.rotational")
    if rotates == base_rotates:
        return NoCause("both disks are of one kind")
    words = "its disk does not rotate"
    if rotates:
        words = "its disk rotates, the baseline's does not"
    return Cause(words, (Term.FILES,))


def mpi_library(case: LossCase) -> Cause | NoCause:
    """Judge whether the MPI library or its version differs."""
    library = _mpi_library(case.facts)
    base_library = _mpi_library(case.baseline_facts)
    if library == base_library:
        return NoCause(f"both run {library}")
    return Cause(
        f"it runs {library}, the baseline {base_library}: the library may cause the difference"
    )


def _mpi_library(facts: Facts) -> str:
    flavour = format_fact("mpi.flavour", facts["mpi.flavour"])
    return f"{flavour} {facts['mpi.version']}"


def kernel(case: LossCase) -> Cause | NoCause:
    """Judge whether the kernel, which provides messages, files and timers, is a different one.

    Only machines of the same kind are compared, because a guest always has another kernel than its
    host. Different names of builds are ignored.
    """
    if case.facts.get("virt.kind") != case.baseline_facts.get("virt.kind"):
        return NoCause("a machine and a guest have kernels of their own")
    release = _kernel(case.facts)
    base_release = _kernel(case.baseline_facts)
    if release == base_release:
        return NoCause(f"both run Linux {release}")
    return Cause(f"its kernel is Linux {release}, the baseline's is {base_release}")


def _kernel(facts: Facts) -> str:
    """Return the version of the kernel without the name of its build."""
    release = str(facts["kernel.release"])
    version = re.match(r"\d+\.\d+", release)
    if version:
        return version[0]
    return release


#: Environment variables with flags for builds; a platform's `environment` sets them.
_FLAGS = ("CFLAGS", "CXXFLAGS", "CPPFLAGS", "FFLAGS", "FCFLAGS", "LDFLAGS")
_UNSET = "unset"


def compiler_flags(case: LossCase) -> Cause | NoCause:
    """Judge whether the compiler flags in the environment differ between the platforms."""
    differing = []
    for name in _FLAGS:
        flags = _flags(case.facts, name)
        base_flags = _flags(case.baseline_facts, name)
        if flags != base_flags:
            differing.append(f"{name} {flags} instead of {base_flags}")
    if not differing:
        return NoCause(f"none of {listing(list(_FLAGS))} differs")
    words = f"it has other compiler flags ({listing(differing)})"
    return Cause(words, _COMPILED[case.finding.layer])


def _flags(facts: Facts, name: str) -> str:
    """Return the flags in one environment variable, with single spaces.

    A long text is shortened.
    """
    value_text = str(facts.get(f"environment.{name}", ""))
    value = " ".join(value_text.split())
    return sanitized_name(value) or _UNSET


#: The term that differently compiled code changes, by layer.
_COMPILED: Mapping[Layer, tuple[Term, ...]] = {
    Layer.COMPUTE: (Term.ARITHMETIC,),
    Layer.MEMORY: (Term.MEMORY,),
    Layer.NPB: (Term.COMPUTING,),
    Layer.APP: (Term.COMPUTING,),
}
_NAMESPACES = "user namespace for each rank"
_MPI = (Layer.MPI, Layer.NPB, Layer.APP)
_ALL = (Layer.NETWORK, Layer.MPI, Layer.IO, Layer.NPB, Layer.APP)
RULES = (
    Rule(_NAMESPACES, (Layer.MPI,), user_namespaces, ("container.userns",), both=False),
    Rule("file system", (Layer.IO,), file_system, ("fs.type",)),
    Rule("kind of disk", (Layer.IO,), kind_of_disk, ("fs.disk.rotational",)),
    Rule("MPI library", _MPI, mpi_library, ("mpi.flavour", "mpi.version")),
    Rule("kernel", _ALL, kernel, ("kernel.release",)),
    Rule("compiler flags", tuple(_COMPILED), compiler_flags),
)
