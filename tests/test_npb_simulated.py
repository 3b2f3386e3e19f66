"""The NAS kernels on a simulated machine: the same source, compiled and run by SimGrid."""

import json
import shutil
import subprocess
from dataclasses import dataclass

import pytest

from bareline.build import build_native
from bareline.cache import cache_folder

pytestmark = [
    pytest.mark.sim,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("smpicc") is None, reason="SimGrid is not installed"),
]

KERNELS = ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu")
PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="10us"/>
</platform>
"""


@dataclass(frozen=True)
class Simulated:
    """SimGrid's compiler wrapper in the place of an MPI library's."""

    flavour: str
    title: str
    mpicc: str


@pytest.fixture(scope="module")
def programs():
    # The wrappers must be the compilers themselves: they make shared objects, which smpirun loads
    # once for each rank.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", "smpicc")
        patch.setenv("FC", "smpif90")
        mpi = Simulated("simgrid", "SimGrid SMPI", shutil.which("smpicc"))
        return build_native(mpi, cache_folder()).programs


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kernel", KERNELS)
def test_class_s_verifies_on_four_simulated_hosts(programs, kernel, tmp_path):
    (tmp_path / "platform.xml").write_text(PLATFORM)
    (tmp_path / "hosts").write_text("n0\nn1\nn2\nn3\n")
    line = ["smpirun", "-np", "4", "-platform", "platform.xml", "-hostfile", "hosts"]
    line += ["--cfg=smpi/host-speed:1Gf", str(programs / f"npb_{kernel}"), "S"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    header, point = (json.loads(row) for row in done.stdout.splitlines()[:2])
    assert header["ranks"] == 4
    assert point["verified"] is True
