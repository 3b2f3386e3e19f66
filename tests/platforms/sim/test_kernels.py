"""The Fortran kernels on a simulated machine: the same source, compiled and run by SimGrid."""

import json
import shutil
import subprocess
from pathlib import Path

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


NATIVE = Path(__file__).parents[3] / "native"
SHARING = """#include <mpi.h>
#include <stdio.h>

void bl_shared_give(const char *name, void *thing);
void *bl_shared_find(const char *name);

int main(int count, char **words)
{
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        bl_shared_give("BARELINE_SHARED_TEST", stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d\\n", bl_shared_find("BARELINE_SHARED_TEST") == stdout);
    return MPI_Finalize();
}
"""


def on_four_hosts(folder, *line):
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "hosts").write_text("n0\nn1\nn2\nn3\n")
    begin = ["smpirun", "-np", "4", "-platform", "platform.xml", "-hostfile", "hosts"]
    done = subprocess.run(
        [*begin, "--cfg=smpi/host-speed:1Gf", *line],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_every_rank_finds_what_one_rank_has_made(tmp_path):
    """Else each of 1024 ranks would draw and keep CG's random vectors for itself."""
    source = tmp_path / "sharing.c"
    source.write_text(SHARING)
    program = str(tmp_path / "sharing")
    parts = [source, NATIVE / "harness" / "bl_shared.c", NATIVE / "common" / "bl_error.c"]
    subprocess.run(
        ["smpicc", "-I", str(NATIVE / "common"), *map(str, parts), "-o", program], check=True
    )
    assert on_four_hosts(tmp_path, program) == ["1"] * 4


@pytest.mark.timeout(600)
@pytest.mark.parametrize("program", PROGRAMS)
def test_class_s_verifies_on_four_simulated_hosts(programs, program, tmp_path):
    header, point = map(json.loads, on_four_hosts(tmp_path, str(programs / program), "S")[:2])
    assert header["ranks"] == 4
    assert header["instruction_set"] == find_simulator().choices["BARELINE_SIMULATED_SET"]
    assert point["verified"] is True
