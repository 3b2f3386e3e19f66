"""Command lines of each launcher, word by word, and how an installation is recognised.

Open MPI 4 and MPICH also run in `test_contract`. Open MPI 5, Intel MPI and Slurm are checked here
only: none of them is in Debian 12 or needs a cluster.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi, identify
from bareline.platforms.hosts.launchers.job import Job, Network, Node
from bareline.platforms.hosts.launchers.srun import srun_argv
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PinningKeys

LOCAL = (Node("localhost", "127.0.0.1", 4),)
PAIR = (Node("node1", "10.0.0.1", 4), Node("node2", "10.0.0.2", 4), Node("node3", "10.0.0.3", 4))
NETWORK = Network(device="eth0", subnet="10.0.0.0/24", launch_address="10.0.0.254")
OPENMPI = MpiInstallation("openmpi", "4.1.4", "/usr/bin/mpirun.openmpi")
OPENMPI5 = MpiInstallation("openmpi", "5.0.7", "/opt/ompi/bin/mpirun")
MPICH = MpiInstallation("mpich", "4.0.2", "/usr/bin/mpirun.mpich")
MPICH5 = MpiInstallation("mpich", "5.0.2", "/opt/mpich/bin/mpirun")
INTEL = MpiInstallation("intel", "2021.13", "/opt/intel/bin/mpirun")


def line(mpi, layout, nodes=LOCAL, **options):
    options.setdefault("as_root", False)
    job = Job(argv=["program", "-x"], layout=layout, nodes=nodes, **options)
    return " ".join(mpi.argv(job))


QUIET = "--mca btl_base_warn_component_unused 0"
LOOPBACK = "--mca oob_tcp_if_include lo"


@pytest.mark.parametrize(
    ("mpi", "options", "expected"),
    [
        (
            OPENMPI,
            {},
            "/usr/bin/mpirun.openmpi --host 127.0.0.1:2 -np 2 --map-by ppr:2:node --bind-to none "
            f"{QUIET} --mca btl ^tcp,ofi {LOOPBACK} program -x",
        ),
        (
            OPENMPI,
            {"transport": "shm", "as_root": True, "env": {"A": "b c"}, "cwd": "/w"},
            "/usr/bin/mpirun.openmpi --allow-run-as-root --host 127.0.0.1:2 -np 2 "
            f"--map-by ppr:2:node --bind-to none {QUIET} --mca pml ob1 --mca btl self,vader "
            f"{LOOPBACK} -x A=b c --wdir /w program -x",
        ),
        (
            OPENMPI,
            {"transport": "tcp"},
            "/usr/bin/mpirun.openmpi --host 127.0.0.1:2 -np 2 --map-by ppr:2:node --bind-to none "
            f"{QUIET} --mca pml ob1 --mca btl self,tcp --mca osc ^sm --mca btl_tcp_if_include lo "
            f"{LOOPBACK} program -x",
        ),
        (
            OPENMPI5,
            {"transport": "shm", "session_folder": "/dev/shm/x"},
            "/opt/ompi/bin/mpirun --host 127.0.0.1:2 -np 2 --map-by ppr:2:node --bind-to none "
            f"{QUIET} --mca btl_sm_backing_directory /dev/shm/x --mca pml ob1 --mca btl self,sm "
            "--prtemca prte_tmpdir_base /dev/shm/x program -x",
        ),
        (
            MPICH,
            {},
            "/usr/bin/mpirun.mpich -hosts 127.0.0.1 -launcher fork -ppn 2 -n 2 -bind-to none "
            "program -x",
        ),
        (
            MPICH,
            {"transport": "shm", "as_root": True, "env": {"A": "b c"}, "cwd": "/w"},
            "/usr/bin/mpirun.mpich -hosts 127.0.0.1 -launcher fork -ppn 2 -n 2 -bind-to none "
            "-genv UCX_TLS self,sm -genv FI_PROVIDER shm -genv A b c -wdir /w program -x",
        ),
        (
            MPICH,
            {"transport": "tcp"},
            "/usr/bin/mpirun.mpich -hosts 127.0.0.1 -launcher fork -ppn 2 -n 2 -bind-to none "
            "-genv UCX_TLS self,tcp -genv FI_PROVIDER tcp -genv MPIR_CVAR_NOLOCAL 1 "
            "-genv UCX_NET_DEVICES lo -genv FI_TCP_IFACE lo program -x",
        ),
        (
            MPICH5,
            {"transport": "tcp"},
            "/opt/mpich/bin/mpirun -hosts 127.0.0.1 -launcher fork -ppn 2 -n 2 -bind-to none "
            "-genv UCX_TLS self,tcp -genv FI_PROVIDER tcp -genv MPIR_CVAR_NOLOCAL 1 "
            "-genv FI_TCP_IFACE lo program -x",
        ),
        (
            INTEL,
            {"transport": "shm", "env": {"A": "b c"}, "cwd": "/w"},
            "/opt/intel/bin/mpirun -hosts 127.0.0.1 -bootstrap fork -ppn 2 -n 2 "
            "-genv I_MPI_JOB_RESPECT_PROCESS_PLACEMENT 0 -genv I_MPI_PIN 0 "
            "-genv I_MPI_FABRICS shm -genv A b c -wdir /w program -x",
        ),
        (
            INTEL,
            {"transport": "tcp"},
            "/opt/intel/bin/mpirun -hosts 127.0.0.1 -bootstrap fork -ppn 2 -n 2 "
            "-genv I_MPI_JOB_RESPECT_PROCESS_PLACEMENT 0 -genv I_MPI_PIN 0 "
            "-genv I_MPI_FABRICS ofi -genv FI_PROVIDER tcp -genv I_MPI_COLL_INTRANODE pt2pt "
            "-genv FI_TCP_IFACE lo program -x",
        ),
    ],
)
def test_two_ranks_on_one_node(mpi, options, expected):
    assert line(mpi, Layout(1, 2, 1), **options) == expected


@pytest.mark.parametrize(
    ("mpi", "expected"),
    [
        (
            OPENMPI,
            "/usr/bin/mpirun.openmpi --host 10.0.0.1:3,10.0.0.2:3 -np 6 --map-by ppr:3:node "
            f"--bind-to none {QUIET} --mca pml ob1 --mca btl self,vader,tcp "
            "--mca btl_tcp_if_include 10.0.0.0/24 --mca plm_rsh_agent /agent:sh "
            "--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include 10.0.0.0/24 program -x",
        ),
        (
            OPENMPI5,
            "/opt/ompi/bin/mpirun --host 10.0.0.1:3,10.0.0.2:3 -np 6 --map-by ppr:3:node "
            f"--bind-to none {QUIET} --mca pml ob1 --mca btl self,sm,tcp "
            "--mca btl_tcp_if_include 10.0.0.0/24 --prtemca plm_ssh_agent /agent:sh "
            "--prtemca plm_ssh_no_tree_spawn 1 --prtemca prte_if_include 10.0.0.0/24 program -x",
        ),
        (
            MPICH,
            "/usr/bin/mpirun.mpich -hosts 10.0.0.1,10.0.0.2 -launcher ssh -launcher-exec /agent "
            "-localhost 10.0.0.254 -ppn 3 -n 6 -bind-to none -genv UCX_TLS self,sm,tcp "
            "-genv FI_PROVIDER tcp -genv UCX_NET_DEVICES eth0 -genv FI_TCP_IFACE eth0 program -x",
        ),
        (
            INTEL,
            "/opt/intel/bin/mpirun -hosts 10.0.0.1,10.0.0.2 -bootstrap ssh -bootstrap-exec /agent "
            "-localhost 10.0.0.254 -ppn 3 -n 6 -genv I_MPI_JOB_RESPECT_PROCESS_PLACEMENT 0 "
            "-genv I_MPI_PIN 0 -genv I_MPI_FABRICS shm:ofi -genv FI_PROVIDER tcp "
            "-genv FI_TCP_IFACE eth0 program -x",
        ),
    ],
)
def test_three_ranks_on_each_of_two_nodes_over_one_network(mpi, expected):
    assert line(mpi, Layout(2, 3, 1), PAIR, network=NETWORK, agent="/agent") == expected


def test_open_mpi_5_that_starts_on_its_first_node_calls_it_by_no_address():
    """PRRTE 3.0 gives its own node, called by an address, a slot too few: exit code 213."""
    jobs = {"network": NETWORK, "agent": "ssh", "starts_on_first": True}
    assert " --host localhost:3,10.0.0.2:3 -np 6 " in line(OPENMPI5, Layout(2, 3, 1), PAIR, **jobs)
    assert " --host 10.0.0.1:3,10.0.0.2:3 -np 6 " in line(OPENMPI, Layout(2, 3, 1), PAIR, **jobs)


def test_a_cluster_without_a_named_network_is_left_to_the_library():
    assert "btl " not in line(OPENMPI, Layout(2, 1, 1), PAIR)
    assert "UCX" not in line(MPICH, Layout(2, 1, 1), PAIR)
    assert "FABRICS" not in line(INTEL, Layout(2, 1, 1), PAIR)
    assert "_if_include" not in line(OPENMPI, Layout(2, 1, 1), PAIR, transport="tcp")


def pinned(nodes, ranks, threads=1, **asked):
    return Layout(nodes, ranks, threads, PinningKeys(**asked).pinning)


def test_binding_gives_every_rank_the_cores_of_its_threads():
    layout = pinned(1, 2, 2, binding="core")
    assert "--map-by ppr:2:node:PE=2 --bind-to core" in line(OPENMPI, layout)
    assert "-bind-to core:2 program" in line(MPICH, layout)
    assert "I_MPI_PIN 1 -genv I_MPI_PIN_CELL core -genv I_MPI_PIN_DOMAIN 2" in line(INTEL, layout)
    one_thread = pinned(1, 2, binding="core")
    assert "--map-by ppr:2:node --bind-to core" in line(OPENMPI, one_thread)


@pytest.mark.parametrize(
    ("asked", "openmpi", "mpich", "intel", "srun"),
    [
        (
            {"ranks_per_socket": 2},
            "--map-by ppr:2:socket --bind-to socket",
            "-bind-to socket -map-by socket",
            "-genv I_MPI_PIN_DOMAIN socket -genv I_MPI_PIN_ORDER scatter",
            "--distribution=block:block --ntasks-per-socket=2 {} --cpu-bind=sockets",
        ),
        (
            {"ranks_per_numa": 1, "binding": "core"},
            "--map-by ppr:1:numa --bind-to core",
            "-bind-to core:1 -map-by numa",
            "-genv I_MPI_PIN_CELL core -genv I_MPI_PIN_DOMAIN 1 -genv I_MPI_PIN_ORDER scatter",
            "--distribution=block:block {} --cpu-bind=cores",
        ),
        (
            {"binding": "core", "distribution": "cyclic"},
            "--map-by socket --bind-to core",
            "-bind-to core:1 -map-by socket",
            "-genv I_MPI_PIN_CELL core -genv I_MPI_PIN_DOMAIN 1 -genv I_MPI_PIN_ORDER scatter",
            "--distribution=block:cyclic {} --cpu-bind=cores",
        ),
        (
            {"binding": "hwthread"},
            "--map-by ppr:4:node --bind-to hwthread --use-hwthread-cpus",
            "-bind-to hwthread:1",
            "-genv I_MPI_PIN_CELL unit -genv I_MPI_PIN_DOMAIN 1",
            "--distribution=block:block {} --cpu-bind=threads",
        ),
        (
            {"binding": "numa"},
            "--map-by ppr:4:node --bind-to numa",
            "-bind-to numa -map-by core",
            "-genv I_MPI_PIN_DOMAIN numa",
            "--distribution=block:block {} --cpu-bind=ldoms",
        ),
    ],
)
def test_ranks_are_placed_on_sockets_and_domains(asked, openmpi, mpich, intel, srun):
    layout = pinned(1, 4, **asked)
    assert f"{openmpi} --mca" in line(OPENMPI, layout)
    package = openmpi.replace("socket", "package")
    assert f"{package} --mca" in line(OPENMPI5, layout)
    assert f"{mpich} program" in line(MPICH, layout)
    assert f"-genv I_MPI_PIN 1 {intel} program" in line(INTEL, layout)
    job = Job(argv=["p"], layout=layout, nodes=LOCAL)
    assert srun.format("--nodelist=localhost") in " ".join(srun_argv(job, OPENMPI))


#: Two sockets of four cores of two hardware threads, as hwloc makes it up.
_SYNTHETIC = "package:2 numa:1 core:4 pu:2"
_FIRST, _SECOND = "1" * 8 + "0" * 8, "0" * 8 + "1" * 8


@pytest.mark.mpi
@pytest.mark.skipif(
    shutil.which("lstopo") is None or shutil.which("mpirun.mpich") is None,
    reason="needs hwloc's lstopo and MPICH",
)
@pytest.mark.parametrize(
    ("asked", "bound"),
    [
        ({"binding": "core"}, ["11" + "0" * 14, "0011" + "0" * 12]),
        ({"binding": "hwthread"}, ["1" + "0" * 15, "01" + "0" * 14]),
        (
            {"binding": "core", "distribution": "cyclic"},
            ["11" + "0" * 14, "0" * 8 + "11" + "0" * 6],
        ),
        ({"binding": "socket"}, [_FIRST, _FIRST]),
        ({"ranks_per_socket": 1}, [_FIRST, _SECOND]),
        ({"ranks_per_numa": 1}, [_FIRST, _SECOND]),
    ],
)
def test_hydra_places_ranks_so_on_two_sockets(tmp_path, asked, bound):
    topology = tmp_path / "topology.xml"
    subprocess.run(["lstopo", "-i", _SYNTHETIC, topology], check=True)
    layout = pinned(1, 2, **asked)
    job = Job(argv=["true"], layout=layout, nodes=LOCAL)
    told = subprocess.run(
        find_mpi("mpich").argv(job),
        check=True,
        env={**os.environ, "HWLOC_XMLFILE": str(topology), "HYDRA_TOPO_DEBUG": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    lines = sorted(re.findall(r"process (\d) binding: ([01]+)", told.stdout + told.stderr))
    assert [binding for _, binding in lines] == bound


def test_more_ranks_than_cores_are_allowed_and_not_bound():
    layout = pinned(1, 6, binding="core")
    crowded = line(OPENMPI, layout)
    assert "--host 127.0.0.1:4 -np 6 --map-by ppr:6:node:OVERSUBSCRIBE --bind-to none" in crowded
    assert "--mca mpi_yield_when_idle 1" in crowded
    assert "-bind-to none" in line(MPICH, layout)
    assert "I_MPI_PIN 0" in line(INTEL, layout)


def test_oversubscription_is_flagged_only_when_needed():
    assert "OVERSUBSCRIBE" not in line(OPENMPI, Layout(1, 4, 1))
    assert "yield" not in line(OPENMPI, Layout(1, 4, 1))
    assert "yield" in line(OPENMPI, Layout(2, 1, 1), PAIR, crowded=True)
    assert "OVERSUBSCRIBE" not in line(OPENMPI, Layout(2, 1, 1), PAIR, crowded=True)


@pytest.mark.parametrize(
    ("mpi", "transport", "variables"),
    [
        (OPENMPI, "auto", "OMPI_MCA_btl_base_warn_component_unused=0"),
        (
            OPENMPI,
            "shm",
            "OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader",
        ),
        (MPICH, "shm", "UCX_TLS=self,sm FI_PROVIDER=shm"),
    ],
)
def test_srun(mpi, transport, variables):
    job = Job(
        argv=["program", "-x"],
        layout=pinned(2, 2, 2, binding="core"),
        nodes=PAIR,
        env={"A": "b,c"},
        cwd="/w",
        transport=transport,
    )
    assert " ".join(srun_argv(job, mpi)) == (
        "srun --mpi=pmix --nodes=2 --ntasks=4 --ntasks-per-node=2 --cpus-per-task=2 "
        "--distribution=block:block --nodelist=node[1-2] --cpu-bind=cores --kill-on-bad-exit=1 "
        f"--chdir=/w env {variables} A=b,c program -x"
    )


def test_srun_shares_cores_only_when_needed():
    few = Job(argv=["p"], layout=Layout(1, 4, 1), nodes=PAIR)
    many = Job(argv=["p"], layout=Layout(1, 5, 1), nodes=PAIR)
    assert "--overcommit" not in srun_argv(few, OPENMPI)
    assert "--overcommit" in srun_argv(many, OPENMPI)


def test_threads_count_as_cores_of_the_smallest_node():
    small = [Node("node1", "10.0.0.1", 4), Node("node2", "10.0.0.2", 2)]
    job = Job(argv=["p"], layout=pinned(2, 1, 4, binding="core"), nodes=small)
    step = srun_argv(job, OPENMPI)
    assert "--overcommit" in step
    assert not [word for word in step if word.startswith("--cpus-per-task")]  # srun refuses it
    assert "PE=4" not in " ".join(OPENMPI.argv(job))
    assert "--cpus-per-task=4" in srun_argv(replace(job, nodes=small[:1] * 2), OPENMPI)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mpirun (Open MPI) 4.1.4\n\nReport bugs to ...\n", ("openmpi", "4.1.4")),
        ("mpirun (Open MPI) 5.0.0rc12\n", ("openmpi", "5.0.0rc12")),
        (
            "HYDRA build details:\n    Version:                                 4.0.2\n    Release",
            ("mpich", "4.0.2"),
        ),
        (
            "Intel(R) MPI Library for Linux* OS, Version 2021.13 Build 20240701 (id: 179630a)\n"
            "Copyright 2003-2024, Intel Corporation.\n",
            ("intel", "2021.13"),
        ),
        ("mpirun: SLURM 22.05\n", None),
        ("", None),
    ],
)
def test_identify(text, expected):
    assert identify(text) == expected


def _install(folder, name, text):
    program = folder / name
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\n")
    program.chmod(0o755)
    return program


OPENMPI_TEXT = "mpirun (Open MPI) 4.1.9"
MPICH_TEXT = "HYDRA build details:\n    Version:         4.3.1"


@pytest.fixture
def only(tmp_path, monkeypatch):
    """Give a folder that is the whole search path, apart from the shell's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("cat", "sh"):
        (folder / name).symlink_to(f"/bin/{name}")
    return folder


def test_auto_is_what_mpirun_is(only):
    mpirun = _install(only, "mpirun", MPICH_TEXT)
    _install(only, "mpirun.openmpi", OPENMPI_TEXT)
    assert find_mpi() == MpiInstallation("mpich", "4.3.1", str(mpirun), None)


def test_a_flavour_is_found_beside_the_other(only):
    _install(only, "mpirun", MPICH_TEXT)
    _install(only, "mpicc", "")
    mpirun = _install(only, "mpirun.openmpi", OPENMPI_TEXT)
    mpicc = _install(only, "mpicc.openmpi", "")
    assert find_mpi("openmpi") == MpiInstallation("openmpi", "4.1.9", str(mpirun), str(mpicc))


def test_a_flavour_is_found_under_the_plain_name(only):
    mpirun = _install(only, "mpirun", OPENMPI_TEXT)
    mpicc = _install(only, "mpicc", "")
    assert find_mpi("openmpi") == MpiInstallation("openmpi", "4.1.9", str(mpirun), str(mpicc))


def test_a_flavour_that_is_not_there_names_its_packages(only):
    _install(only, "mpirun", OPENMPI_TEXT)
    with raises(ToolMissing, "BL-PLATFORMS-946", "libmpich-dev"):
        find_mpi("mpich")
    with raises(ToolMissing, "BL-PLATFORMS-946"):
        find_mpi("intel")


def test_no_library_at_all(only):
    with raises(ToolMissing, "BL-PLATFORMS-946", "openmpi-bin", "libopenmpi-dev"):
        find_mpi()


def test_a_path_may_be_the_launcher_or_its_folder(only, tmp_path):
    prefix = tmp_path / "opt"
    (prefix / "bin").mkdir(parents=True)
    mpirun = _install(prefix / "bin", "mpirun", MPICH_TEXT)
    expected = MpiInstallation("mpich", "4.3.1", str(mpirun), None, str(prefix / "bin"))
    assert find_mpi(str(mpirun)) == expected
    assert find_mpi(str(prefix)) == expected
    assert find_mpi(str(prefix / "bin")) == expected


def test_a_relative_path_works_in_the_folders_of_builds_and_jobs(only, tmp_path, monkeypatch):
    (tmp_path / "opt").mkdir()
    mpirun = _install(tmp_path / "opt", "mpirun", MPICH_TEXT)
    mpicc = _install(tmp_path / "opt", "mpicc", "")
    monkeypatch.chdir(tmp_path / "opt")
    found = find_mpi("../opt/mpirun")
    monkeypatch.chdir("/")
    assert Path(found.mpirun).samefile(mpirun)
    assert Path(found.mpicc).samefile(mpicc)


def _install_starter(folder, version):
    """Install a launcher that starts, as Intel's does, what PATH has under a common name."""
    folder.mkdir(exist_ok=True)
    script = folder / "mpirun"
    script.write_text('#!/bin/sh\nexec starter "$@"\n')
    script.chmod(0o755)
    _install(folder, "starter", f"Intel(R) MPI Library for Linux* OS, Version {version} Build 1")
    return script


def test_the_folder_of_a_launcher_comes_first_for_every_question_and_start(only, tmp_path):
    _install(only, "starter", MPICH_TEXT)
    mpirun = _install_starter(tmp_path / "intel", "2021.18.1")
    mpi = find_mpi(str(mpirun))
    assert (mpi.flavour, mpi.version) == ("intel", "2021.18.1")
    assert mpi.variables["PATH"].split(":")[0] == str(tmp_path / "intel")
    started = mpi.argv(Job(argv=["true"], layout=Layout(1, 2), nodes=PAIR[:1]))
    printed = subprocess.run(started, capture_output=True, text=True, check=True).stdout
    assert "2021.18.1" in printed


def test_intel_mpi_from_a_wheel_is_told_where_it_is(only, tmp_path, monkeypatch):
    monkeypatch.delenv("I_MPI_ROOT", raising=False)
    mpirun = _install_starter(tmp_path / "bin2", "2021.18.1")
    _install(tmp_path / "bin2", "impi_info", "")
    assert find_mpi(str(mpirun)).variables["I_MPI_ROOT"] == str(tmp_path)
    monkeypatch.setenv("I_MPI_ROOT", "/opt/intel")
    assert "I_MPI_ROOT" not in find_mpi(str(mpirun)).variables


LIBRARIES = {
    "openmpi": "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4",
    "mpich": "MPICH Version: 4.0.2 MPICH Release date: Thu Apr 7 12:34:45 CDT 2022",
    "intel": "Intel(R) MPI Library 2021.9 for Linux* OS",
}


@pytest.mark.parametrize(
    ("mpi", "library"),
    [
        (MpiInstallation("openmpi", "4.1.4", "/usr/bin/mpirun"), LIBRARIES["openmpi"]),
        (MpiInstallation("mpich", "4.0.2", "/usr/bin/mpirun"), LIBRARIES["mpich"]),
        (MpiInstallation("intel", "2021.9.1", "/opt/bin/mpirun"), LIBRARIES["intel"]),
        (MpiInstallation("mpich", "3.2", "/opt/bin/mpirun"), "MVAPICH2 Version : 2.3.7"),
        (MpiInstallation("mpich", "3.2", "/opt/bin/mpirun"), ""),
    ],
)
def test_a_launcher_starts_programs_of_its_own_library(mpi, library):
    mpi.check_library(library)


@pytest.mark.parametrize(
    ("mpi", "library", "named"),
    [
        (MpiInstallation("mpich", "4.0.2", "/a/mpirun"), LIBRARIES["intel"], "Intel MPI 2021.9"),
        (MpiInstallation("openmpi", "5.0.7", "/a/mpirun"), LIBRARIES["openmpi"], "Open MPI 4.1.4"),
        (MpiInstallation("openmpi", "4.1.4", "/a/mpirun"), LIBRARIES["mpich"], "MPICH 4.0.2"),
    ],
)
def test_a_launcher_of_another_library_is_refused_and_both_are_named(mpi, library, named):
    with pytest.raises(PlatformError) as refused:
        mpi.check_library(library)
    assert mpi.title in refused.value.what
    assert named in refused.value.what


@pytest.mark.parametrize("name", ["no/such/file", "bin/cat", "bin/broken"])
def test_a_path_that_is_no_launcher(only, tmp_path, name):
    _install(only, "broken", "mpirun: command of another kind")
    with raises(PlatformError, "BL-PLATFORMS-450"):
        find_mpi(str(tmp_path / name))


@pytest.mark.parametrize("mpi", [OPENMPI, OPENMPI5, MPICH, INTEL])
def test_a_thousand_hosts_with_long_names_fit_into_one_word_of_a_command(mpi):
    """Linux takes 128 KiB in a word, and over ssh the whole command is one."""
    nodes = [Node(f"n{n}", f"{'long-' * 9}node{n:04d}.example.org", 128) for n in range(1024)]
    assert len(nodes[0].address) > 60
    assert len(line(mpi, Layout(1024, 128), nodes)) < 100_000
