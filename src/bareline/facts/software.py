"""Facts of the software that programs are built with and run on: MPI, compilers, libraries."""

from __future__ import annotations

import re

from bareline.facts.sections import Facts, Found, Sections, known, version

_COMPILERS = (
    ("compiler.c", "gcc"),
    ("compiler.fortran", "gfortran"),
    ("compiler.clang", "clang"),
    ("compiler.intel_c", "icx"),
    ("compiler.intel_c", "icc"),
    ("compiler.intel_fortran", "ifx"),
    ("compiler.intel_fortran", "ifort"),
    ("compiler.nvidia_c", "nvc"),
    ("compiler.nvidia_fortran", "nvfortran"),
)
_LIBRARIES = (
    ("library.blas", re.compile(r"libopenblas0-\w+|openblas"), "OpenBLAS"),
    ("library.fftw", re.compile(r"libfftw3-double3|fftw-libs-double"), "FFTW"),
    ("library.scalapack", re.compile(r"libscalapack-\w+?\d[\d.]*|scalapack-openmpi"), "ScaLAPACK"),
    ("library.mkl", re.compile(r"mkl"), "MKL"),
    ("library.ucx", re.compile(r"libucx0|ucx"), "UCX"),
    ("library.libfabric", re.compile(r"libfabric1|libfabric"), "libfabric"),
    ("library.libc", re.compile(r"libc6|glibc"), "glibc"),
)


def parse_software(sections: Sections) -> Facts:
    """Read the sections about software."""
    flavour, release = mpi_version(sections.get("version.mpirun", ""))
    facts: Found = {"mpi.flavour": flavour, "mpi.version": release}
    for key, program in _COMPILERS:
        found = compiler_version(sections.get(f"version.{program}", ""))
        if found and key not in facts:
            facts[key] = f"{program} {found}"
    for line in sections.get("libraries", "").splitlines():
        match line.split():
            case ["installed", package, number]:
                threads = " with threads" if re.search("pthread|openmp$", package) else ""
                for key, packages, name in _LIBRARIES:
                    if packages.fullmatch(package):
                        facts[key] = f"{name} {version(number) or number}{threads}"
    return known(facts)


def mpi_version(text: str) -> tuple[str | None, str | None]:
    """Give the key of the MPI library and its version from what ``mpirun --version`` prints."""
    if "Intel(R) MPI" in text:
        match = re.search(r"Version (\d[\w.]*(?: Update \d+)?)", text)
        return "intel", match[1] if match else None
    if "HYDRA" in text or "MPICH" in text:
        match = re.search(r"Version:\s+(\d\S*)", text)
        return "mpich", match[1] if match else None
    if "Open MPI" in text or "OpenRTE" in text or "open-mpi" in text:
        return "openmpi", version(text)
    return None, None


def compiler_version(text: str) -> str | None:
    """Find a compiler's version in what ``--version`` prints, past the packager's own."""
    lines = [line for line in text.splitlines() if line.strip()][:2]
    found = (version(re.sub(r"\([^)]*\)", " ", line)) for line in lines)
    return next(filter(None, found), None)
