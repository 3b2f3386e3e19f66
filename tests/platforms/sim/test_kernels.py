"""The Fortran kernels on a simulated machine: the same source, compiled and run by SimGrid."""

import json
import shutil
import subprocess

import pytest

from bareline.build.native import build_native
from bareline.host.cache import cache_folder
from bareline.platforms.sim.platform import find_simulator

pytestmark = [
    pytest.mark.sim,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("smpicc") is None, reason="SimGrid is not installed"),
]

PROGRAMS = (
    *(f"npb_{kernel}" for kernel in ("ep", "is", "cg", "mg", "ft", "bt", "sp", "lu")),
    *(
        f"app_{kernel}"
        for kernel in ("ocean", "lattice", "planewave", "overset", "cartesian", "unstructured")
    ),
)
PLATFORM = """\
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="10us"/>
</platform>
"""


@pytest.fixture(scope="module")
def programs():
    return build_native(find_simulator(), cache_folder()).programs


@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", PROGRAMS)
def test_class_s_verifies_on_four_simulated_hosts(programs, program, tmp_path):
    (tmp_path / "platform.xml").write_text(PLATFORM)
    (tmp_path / "hosts").write_text("n0\nn1\nn2\nn3\n")
    line = ["smpirun", "-np", "4", "-platform", "platform.xml", "-hostfile", "hosts"]
    line += ["--cfg=smpi/host-speed:1Gf", str(programs / program), "S"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    header, point = (json.loads(row) for row in done.stdout.splitlines()[:2])
    assert header["ranks"] == 4
    assert header["instruction_set"] == find_simulator().choices["BARELINE_SIMULATED_SET"]
    assert point["verified"] is True
