"""What every platform of real hosts must do, tried on the real thing."""

from __future__ import annotations

import json
import shutil
import time

import pytest

from bareline.errors import PlatformError, ToolMissing
from bareline.model import Layout, Server
from bareline.platforms.process import marked_processes

ROOT = {"privilege": "root"}
USER = {"privilege": "user namespace"}


def _case(name, kind, *marks, **options):
    return pytest.param((kind, options), id=name, marks=marks)


netns = pytest.mark.netns
mpi = pytest.mark.mpi
PLATFORMS = [
    _case("local", "local"),
    _case("netns-root", "netns", netns, **ROOT),
    _case("netns-user", "netns", netns, **USER),
]
MPI_PLATFORMS = [
    _case("local-openmpi-shm", "local", mpi, mpi="openmpi", transport="shm"),
    _case("local-openmpi-tcp", "local", mpi, mpi="openmpi", transport="tcp"),
    _case("local-mpich-shm", "local", mpi, mpi="mpich", transport="shm"),
    _case("local-mpich-tcp", "local", mpi, mpi="mpich", transport="tcp"),
    _case("netns-root-openmpi", "netns", mpi, netns, mpi="openmpi", **ROOT),
    _case("netns-root-mpich", "netns", mpi, netns, mpi="mpich", rate="1gbit", **ROOT),
    _case("netns-user-openmpi", "netns", mpi, netns, mpi="openmpi", rate="1gbit", **USER),
    _case("netns-user-mpich", "netns", mpi, netns, mpi="mpich", **USER),
]


@pytest.fixture(params=PLATFORMS)
def bench(request, open_bench):
    kind, options = request.param
    return open_bench(kind, **options)


@pytest.fixture(params=MPI_PLATFORMS)
def mpi_bench(request, open_bench):
    kind, options = request.param
    return open_bench(kind, **options)


def test_runs_a_program_and_brings_back_all_it_said(bench):
    output = bench.shell("echo out; echo err >&2; exit 3")
    assert (output.stdout, output.stderr, output.exit_code) == ("out\n", "err\n", 3)
    assert not output.timed_out
    assert output.duration_s > 0
    assert output.argv[-3:] == ("sh", "-c", "echo out; echo err >&2; exit 3")


def test_death_by_a_signal_is_told(bench):
    assert bench.shell("kill -SEGV $$").exit_code == -11


def test_passes_variables_as_they_are(bench):
    value = "two words; $HOME 'quoted' \"twice\" = ,"
    output = bench.run("printenv", "SAID", env=(("SAID", value),))
    assert output.stdout == value + "\n"


def test_brings_files_to_the_node_and_back(bench):
    # More than a pipe holds: the node must read while bareline still writes.
    text = "".join(f"line {number}\n" for number in range(50_000))
    output = bench.shell(
        "cd {workdir} && wc -l <input >output && pwd",
        inputs=(("input", text),),
        outputs=("output",),
    )
    assert output.files == {"output": "50000\n"}
    folder = output.stdout.strip()
    assert folder
    assert bench.shell(f"test -e {folder}").exit_code == 1


@pytest.mark.parametrize("node", [0, -1])
def test_runs_on_the_node_that_is_named(bench, node):
    expected = bench.allocation.nodes[node].name if bench.nodes > 1 else ""
    name = bench.run("cat", "/proc/sys/kernel/hostname", node=node).stdout.strip()
    assert name == expected or not expected


def test_time_limit_ends_everything(bench):
    started = time.monotonic()
    output = bench.shell("echo begun; sleep 300 & setsid sleep 300 & wait", timeout_s=1)
    assert output.timed_out
    assert output.stdout == "begun\n"
    assert time.monotonic() - started < 10
    assert marked_processes(bench.token) == []


def test_what_a_program_leaves_behind_is_ended(bench):
    assert bench.shell("setsid sleep 300 >/dev/null 2>&1 &").exit_code == 0
    assert marked_processes(bench.token) == []


def test_missing_program_names_the_package(bench):
    with pytest.raises(ToolMissing, match=r"no-such-program.*not installed"):
        bench.run("no-such-program", requires=("no-such-program",))


def test_program_that_does_not_exist_is_an_output(bench):
    output = bench.run("/no/such/program")
    assert output.exit_code == 127
    assert "No such file" in output.stderr


@pytest.mark.skipif(shutil.which("nuttcp") is None, reason="nuttcp is not installed")
def test_server_listens_on_the_last_node_while_the_program_runs(bench):
    server = Server(argv=("nuttcp", "-S", "--nofork", "-P", "{server_port}"))
    ports = ("-P", "{server_port}", "-p", "{server_data_port}")
    output = bench.run("nuttcp", "-n16M", *ports, "{server_host}", server=server)
    assert output.exit_code == 0, output.stderr
    assert "Mbps" in output.stdout
    assert marked_processes(bench.token) == []
    port = int(output.argv[output.argv.index("-P") + 1])
    assert port not in bench.allocation.listening_ports(len(bench.allocation.nodes) - 1)


def test_server_may_say_as_much_as_it_likes(bench):
    chatty = "yes | head -c 300000; exec nuttcp -S --nofork -P {server_port}"
    server = Server(argv=("sh", "-c", chatty))
    assert bench.run("true", server=server).exit_code == 0


def test_server_that_does_not_start_says_why(bench):
    server = Server(argv=("sh", "-c", "echo no licence >&2; exit 1"))
    with pytest.raises(PlatformError, match="no licence"):
        bench.run("true", server=server)
    assert marked_processes(bench.token) == []


def test_server_is_ended_when_the_program_overruns(bench):
    server = Server(argv=("nuttcp", "-S", "--nofork", "-P", "{server_port}"), node=0)
    output = bench.run("sleep", "300", server=server, timeout_s=1)
    assert output.timed_out
    assert marked_processes(bench.token) == []


def test_facts_describe_the_nodes(bench):
    facts = bench.allocation.facts()
    assert facts["node.count"] == bench.nodes
    assert facts["cpu.model"]
    assert facts["memory.total_bytes"] > 1 << 20
    assert not any(key.startswith("node[") and key.endswith("cpu.model") for key in facts)


def _lines(output):
    assert output.exit_code == 0, output.stderr
    lines = [json.loads(line) for line in output.stdout.splitlines()]
    return sorted(lines, key=lambda line: line["rank"])


def test_mpi_lays_ranks_node_by_node(mpi_bench):
    lines = _lines(mpi_bench.ranks())
    assert [line["rank"] for line in lines] == [0, 1]
    assert {line["size"] for line in lines} == {2}
    if mpi_bench.nodes > 1:
        assert [line["host"] for line in lines] == ["node1", "node2"]
        packed = _lines(mpi_bench.ranks(layout=Layout(2, 2, 1)))
        assert [line["host"] for line in packed] == ["node1", "node1", "node2", "node2"]


def test_mpi_gives_every_rank_variables_and_directory(mpi_bench):
    value = "two words; x=y,z"
    lines = _lines(mpi_bench.ranks(env=(("SAID", value),), inputs=(("input", "x"),)))
    assert {line["said"] for line in lines} == {value}
    folders = {line["folder"] for line in lines}
    assert len(folders) == 1
    assert folders.pop().endswith(mpi_bench.token)


def test_mpi_exit_code_is_told(mpi_bench):
    assert mpi_bench.ranks("exit").exit_code == 7


def test_mpi_rank_that_dies_fails_the_job(mpi_bench):
    output = mpi_bench.ranks("signal")
    assert output.exit_code not in (0, None)
    assert not output.timed_out
    assert marked_processes(mpi_bench.token) == []


def test_mpi_job_that_never_ends_is_ended_everywhere(mpi_bench):
    output = mpi_bench.ranks("sleep", timeout_s=4)
    assert output.timed_out
    assert len(output.stdout.splitlines()) == 2, "the ranks had not even started"
    assert marked_processes(mpi_bench.token) == []
    # And the platform is as good as new.
    assert len(_lines(mpi_bench.ranks())) == 2


def test_mpi_facts_name_the_library_that_is_used(mpi_bench):
    facts = mpi_bench.allocation.facts()
    assert facts["mpi.flavour"] == mpi_bench.options.mpi
    assert facts["mpi.transport"] == mpi_bench.options.transport


def test_more_ranks_than_cores_run_with_a_caveat(mpi_bench):
    cores = mpi_bench.allocation.nodes[0].cores
    layout = Layout(1, cores + 1, 1)
    assert "oversubscribed" in mpi_bench.allocation.caveats(layout)
    assert "oversubscribed" not in mpi_bench.allocation.caveats(Layout(1, 1, 1))
    assert len(_lines(mpi_bench.ranks(layout=layout))) == cores + 1
