"""The placement of a job's ranks, the transport of messages, and the MPI library: ``mpiplace``.

``mpiplace`` is not a probe, because it measures nothing. It is launched in addition to the trials,
so that libraries can print their choices without slowing down a trial. The patterns of the lines
that libraries print were written from outputs of Open MPI 4.1, MPICH 4.0 and UCX 1.13. Only the
pattern of libfabric's providers, which MPICH and Intel MPI print, was written from the
documentation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from types import MappingProxyType

from bareline.probes._native import MeasuredPoint, build_of_header, read_object, read_report
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Output, Scalar

#: Variables that make the libraries print their choices; each library ignores the variables of
#: other libraries.
_TELLING = (
    ("OMPI_MCA_pml_base_verbose", "10"),
    ("OMPI_MCA_mtl_base_verbose", "10"),
    ("OMPI_MCA_btl_base_verbose", "1"),
    ("UCX_LOG_LEVEL", "info"),
    ("MPIR_CVAR_DEBUG_SUMMARY", "1"),
    ("I_MPI_DEBUG", "5"),
)
#: Patterns of the transports of messages, by the part of a library that prints them.
_LISTS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "BTL": re.compile(r"mca: bml: Using (\w+) btl for send"),
        "MTL": re.compile(r"select: component (ofi|psm|psm2|portals4) selected"),
        "UCX": re.compile(r"ep_cfg\[\d+\]: (?:tag|rma|am)\(([^)]*)\)"),
        "OFI": re.compile(r"libfabric provider: ([\w;.-]+)"),
    }
)
_SELF = re.compile(r"self\b")
#: Transports through the memory of a node, and through the kernel's TCP.
_KINDS = {
    "shm": re.compile(r"(vader|sm|shm|sysv|posix|cma|knem|xpmem)\b"),
    "tcp": re.compile(r"(tcp|sockets)\b"),
    "other": re.compile(""),
}
_LIBRARY = re.compile(
    r"(Open MPI) v?(\d[\w.]*)"
    r"|(Intel)(?:\(R\))? MPI (?:Library )?(\d[\w.]*)"
    r"|(?<!VA)(MPICH) (?:Version:\s*)?(\d[\w.]*)"
)


PLACE = Command(argv=("{native}/mpiplace",), mpi=True, env=_TELLING)


@dataclass(frozen=True, slots=True)
class Rank:
    """The node, processors and memory domains of a rank.

    - `node`: number of the rank's node, which is the number of the first rank on the node.
    - `cpus`: hardware threads that the rank may use.
    - `packages`: sockets of these hardware threads.
    - `numa`: NUMA domains of these hardware threads.
    - `cores`: number of cores of these hardware threads; 0 if unknown.
    - `machine_packages`: number of sockets of the node.
    - `machine_numa`: number of NUMA domains of the node.
    """

    node: int
    cpus: frozenset[int]
    packages: frozenset[int]
    numa: frozenset[int]
    cores: int
    machine_packages: int
    machine_numa: int


@dataclass(frozen=True, slots=True)
class Seen:
    """The observations of a job of ``mpiplace``.

    - `jobs`: number of separate MPI jobs; more than one if the MPI library does not belong to the
      launcher, so that each process runs as a job.
    - `built_with`: title and version of the MPI library that the program was compiled for; "" if
      unknown.
    - `library`: title and version of the MPI library that the program ran with; "" if unknown.
    - `carriers`: the transports of messages, in the library's words: ``UCX tcp/eth0``.
    - `compiled`: compilers and flags of the program, as facts.
    """

    jobs: int
    built_with: str
    library: str
    ranks: tuple[Rank, ...]
    carriers: tuple[str, ...]
    compiled: Mapping[str, Scalar] = field(default_factory=dict)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of transports: ``shm``, ``tcp``, ``other``."""
        return frozenset(_kind_of(carrier.partition(" ")[2]) for carrier in self.carriers)


def read_place(output: Output) -> Seen:
    """Return the observations in the output of a launch.

    Raises ParseError: the output is not complete.
    """
    # Libraries also print on stdout.
    lines = [line for line in output.stdout.splitlines() if line.startswith("{")]
    jobs = sum('"program":"mpiplace"' in line for line in lines)
    report = None
    if jobs <= 1:
        report = read_report(replace(output, stdout="\n".join(lines)), "mpiplace", "place")
    header = report.header if report else read_object(lines[0], 1)
    built, ran = (library_named(str(header.get(key))) for key in ("built_with", "mpi_library"))
    if report is None:
        return Seen(jobs, built, ran, (), ())
    ranks = tuple(map(_rank, report.points))
    carried = carriers(output.stderr + output.stdout)
    return Seen(jobs, built, ran, ranks, carried, build_of_header(header))


def _kind_of(carrier: str) -> str:
    return next(kind for kind, pattern in _KINDS.items() if pattern.match(carrier))


def library_named(text: str) -> str:
    """Return the title and version of a library from its version text; "" if unknown."""
    match = _LIBRARY.search(text)
    if match is None:
        return ""
    name, version = filter(None, match.groups())
    title = "Intel MPI" if name == "Intel" else name
    return f"{title} {version}"


def carriers(text: str) -> tuple[str, ...]:
    """Return the transports of messages between different ranks, in alphabetical order."""
    names: set[str] = set()
    for part, pattern in _LISTS.items():
        words = " ".join(pattern.findall(text)).split()
        names.update(f"{part} {name}" for name in words if not _SELF.match(name))
    return tuple(sorted(names))


def _rank(point: MeasuredPoint) -> Rank:
    return Rank(
        node=int(point.number("node")),
        cpus=_numbers(point, "cpus"),
        packages=_numbers(point, "packages"),
        numa=_numbers(point, "numa"),
        cores=int(point.number("cores")),
        machine_packages=int(point.number("machine_packages")),
        machine_numa=int(point.number("machine_numa")),
    )


def _numbers(point: MeasuredPoint, name: str) -> frozenset[int]:
    text = point.fields.get(name)
    if not isinstance(text, str) or not re.fullmatch(r"(\d{1,4}(-\d{1,4})?(,|$))*", text):
        raise ParseError(f"the point's {name} are not a list of numbers: '{str(text)[:60]}'")
    ends = [part.partition("-") for part in text.split(",") if part]
    spans = [range(int(first), int(last or first) + 1) for first, _, last in ends]
    return frozenset(chain.from_iterable(spans))
