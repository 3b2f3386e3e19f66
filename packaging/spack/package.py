"""bareline in Spack, from a folder of its sources.

mkdir -p REPO/packages/bareline && cp packaging/spack/package.py REPO/packages/bareline/
spack repo add REPO
spack develop --path . bareline@=develop
spack install bareline
"""

from spack.package import *


class Bareline(PythonPackage):
    """Measures what a platform costs an MPI application.

    Runs one ladder of benchmarks on two or more platforms, compares with honest statistics,
    explains, predicts. Its own programs are built later, by ``bareline build``, with the MPI
    library that is loaded then.
    """

    license("Apache-2.0")

    version("develop")

    variant("openblas", default=True, description="BLAS for the probes of linear algebra")

    depends_on("c", type="build")
    depends_on("fortran", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.27:", type="build")
    depends_on("py-pydantic@2.10:2", type=("build", "run"))
    depends_on("py-typer@0.16:0", type=("build", "run"))
    depends_on("py-rich@13.9:15", type=("build", "run"))
    depends_on("py-polars@1.30:2", type=("build", "run"))
    depends_on("py-numpy@2", type=("build", "run"))
    depends_on("py-jinja2@3.1.5:3", type=("build", "run"))
    depends_on("py-tomli-w@1.1:1", type=("build", "run"))
    depends_on("py-typing-extensions@4.12:4", type=("build", "run"))
    # Figures need vl-convert-python, which Spack lacks: without it, tables replace them.
    depends_on("cmake@3.18:", type="run")
    depends_on("ninja", type="run")
    depends_on("mpi", type="run")
    depends_on("openblas", when="+openblas", type="run")

    import_modules = ["bareline", "bareline.cli", "bareline.vocabulary"]
