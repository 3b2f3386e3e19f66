"""The contract of every platform of real hosts, which is tested on real hosts."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bareline.platforms.base import Allocation, Platform
from bareline.platforms.hosts.allocation import HostsAllocation
from bareline.platforms.hosts.process import marked_processes
from bareline.platforms.localhost.allocation import LocalhostAllocation
from bareline.testing.bench import Bench, open_bench
from bareline.vocabulary.errors import PlatformError, ToolMissing
from bareline.vocabulary.model import Layout, Output, Server
from bareline.vocabulary.platform import PlatformSpec


def _hosts(bench: Bench) -> HostsAllocation:
    assert isinstance(bench.allocation, HostsAllocation)
    return bench.allocation


def forgotten_of(
    allocation: type[Allocation], platform: type[Platform[Any]] | None = None
) -> list[str]:
    """Return descriptions of the inherited methods that a platform type must override.

    `bareline.testing.bench.open_bench` already refuses abstract methods. These methods are not
    abstract, but the inherited version is wrong for the new type.
    """
    omissions = []
    if issubclass(allocation, HostsAllocation):
        programs, jobs = (_definer(allocation, name) for name in ("node_argv", "mpi_argv"))
        if programs is not jobs and issubclass(programs, jobs):
            omissions.append(
                f"{programs.__name__} defines the start of a program (node_argv) and leaves to "
                f"{jobs.__name__} the start of MPI jobs: also write mpi_argv, or they do not run "
                "the same way"
            )
        if platform is not None and _definer(platform, "build") is Platform:
            omissions.append(
                f"{platform.__name__} has nodes for bareline's own programs and no build: "
                "`bareline build --on` would say that it needs none; write build, or derive from "
                "a type that has it"
            )
    return omissions


def _definer(kind: type, name: str) -> type:
    return next(ancestor for ancestor in kind.__mro__ if name in vars(ancestor))


#: For each option of a layer: a value that costs little, and the fact that shows the layer.
_LAYERS: Mapping[str, tuple[dict[str, Any], str]] = {
    "container": ({"runtime": "bwrap", "image": "host"}, "container.runtime"),
    "filesystem": ({"type": "tmpfs"}, "fs.layer"),
    "neighbours": ({"count": 1, "load": "idle"}, "neighbours.count"),
}


class PlatformContract:
    """Tests of nodes; a test class defines the fixture `bench` with the result of `open_bench`."""

    def test_nothing_that_belongs_together_is_left_out(self, bench: Bench) -> None:
        forgotten = forgotten_of(type(bench.allocation), bench.platform)
        assert not forgotten, "; ".join(forgotten)

    def test_runs_a_program_and_brings_back_all_it_said(self, bench: Bench) -> None:
        output = bench.shell("echo out; echo err >&2; exit 3")
        assert (output.stdout, output.stderr, output.exit_code) == ("out\n", "err\n", 3)
        assert not output.timed_out
        assert output.duration_s > 0
        assert output.argv[-3:] == ("sh", "-c", "echo out; echo err >&2; exit 3")

    def test_death_by_a_signal_is_told(self, bench: Bench) -> None:
        assert bench.shell("kill -SEGV $$").exit_code == -11

    def test_passes_variables_as_they_are(self, bench: Bench) -> None:
        value = "two words; $HOME 'quoted' \"twice\" = ,"
        output = bench.run("printenv", "SAID", env=(("SAID", value),))
        assert output.stdout == value + "\n"

    def test_brings_files_to_the_node_and_back(self, bench: Bench) -> None:
        # More than the size of a pipe: the node must read while bareline still writes.
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
    def test_runs_on_the_node_that_is_named(self, bench: Bench, node: int) -> None:
        expected = _hosts(bench).nodes[node].name if bench.nodes > 1 else ""
        name = bench.run("cat", "/proc/sys/kernel/hostname", node=node).stdout.strip()
        assert name == expected or not expected

    def test_time_limit_ends_everything(self, bench: Bench) -> None:
        started = time.monotonic()
        output = bench.shell("echo begun; sleep 300 & setsid sleep 300 & wait", timeout_s=1)
        assert output.timed_out
        assert output.stdout == "begun\n"
        assert time.monotonic() - started < 10
        assert marked_processes(bench.token) == []

    def test_what_a_program_leaves_behind_is_ended(self, bench: Bench) -> None:
        assert bench.shell("setsid sleep 300 >/dev/null 2>&1 &").exit_code == 0
        assert marked_processes(bench.token) == []

    def test_missing_program_names_the_package(self, bench: Bench) -> None:
        with pytest.raises(ToolMissing, match="no-such-program"):
            bench.run("no-such-program", requires=("no-such-program",))

    def test_program_that_does_not_exist_is_an_output(self, bench: Bench) -> None:
        output = bench.run("/no/such/program")
        assert output.exit_code == 127
        assert "No such file" in output.stderr

    @pytest.mark.skipif(shutil.which("nuttcp") is None, reason="nuttcp is not installed")
    def test_server_listens_on_the_last_node_while_the_program_runs(self, bench: Bench) -> None:
        server = Server(argv=("nuttcp", "-S", "--nofork", "-P", "{server_port}"))
        ports = ("-P", "{server_port}", "-p", "{server_data_port}")
        output = bench.run("nuttcp", "-n16M", *ports, "{server_host}", server=server)
        assert output.exit_code == 0, output.stderr
        assert "Mbps" in output.stdout
        assert marked_processes(bench.token) == []
        port = int(output.argv[output.argv.index("-P") + 1])
        assert port not in _hosts(bench).listening_ports(len(_hosts(bench).nodes) - 1)

    def test_server_may_say_as_much_as_it_likes(self, bench: Bench) -> None:
        chatty = "yes | head -c 300000; exec nuttcp -S --nofork -P {server_port}"
        server = Server(argv=("sh", "-c", chatty))
        assert bench.run("true", server=server).exit_code == 0

    def test_server_that_does_not_start_says_why(self, bench: Bench) -> None:
        server = Server(argv=("sh", "-c", "echo no licence >&2; exit 1"))
        with pytest.raises(PlatformError, match="no licence"):
            bench.run("true", server=server)
        assert marked_processes(bench.token) == []

    def test_server_is_ended_when_the_program_overruns(self, bench: Bench) -> None:
        server = Server(argv=("nuttcp", "-S", "--nofork", "-P", "{server_port}"), node=0)
        output = bench.run("sleep", "300", server=server, timeout_s=1)
        assert output.timed_out
        assert marked_processes(bench.token) == []

    def test_facts_describe_the_nodes(self, bench: Bench) -> None:
        facts = bench.allocation.facts()
        assert facts["node.count"] == bench.nodes
        assert facts["cpu.model"]
        assert int(facts["memory.total_bytes"]) > 1 << 20
        assert not any(key.startswith("node[") and key.endswith("cpu.model") for key in facts)

    @pytest.mark.parametrize("layer", _LAYERS)
    def test_a_layer_that_its_options_take_is_there(
        self, bench: Bench, layer: str, tmp_path: Path
    ) -> None:
        least, fact = _LAYERS[layer]
        if layer not in type(bench.options).model_fields:
            pytest.skip(f"it takes no {layer}")
        if getattr(bench.options, layer) is not None:
            assert fact in bench.allocation.facts()
            return
        if any(getattr(bench.options, other, None) is not None for other in _LAYERS):
            pytest.skip("tried without the other layers")
        if not isinstance(bench.allocation, LocalhostAllocation) or bench.platform is None:
            pytest.skip("its nodes cannot be taken twice")
        options = {**bench.options.model_dump(exclude_unset=True), layer: least}
        name = bench.platform.type_name
        usable = bench.platform.available(
            PlatformSpec(name, name, bench.platform.options(**options))
        )
        if not usable.ok:
            pytest.skip(usable.reason)
        with open_bench(bench.platform, tmp_path, **options) as again:
            problem = f"{bench.platform.__name__} takes {layer} and leaves it out"
            assert fact in again.allocation.facts(), problem


class MpiContract:
    """Tests of MPI jobs; they need the fixture `mpi_bench`, a `Bench` with a rank program."""

    def test_mpi_lays_ranks_node_by_node(self, mpi_bench: Bench) -> None:
        lines = _lines(mpi_bench.ranks())
        assert [line["rank"] for line in lines] == [0, 1]
        assert {line["size"] for line in lines} == {2}
        if mpi_bench.nodes > 1:
            first, second = (node.name for node in _hosts(mpi_bench).nodes[:2])
            assert [line["host"] for line in lines] == [first, second]
            packed = _lines(mpi_bench.ranks(layout=Layout(2, 2, 1)))
            assert [line["host"] for line in packed] == [first, first, second, second]

    def test_mpi_gives_every_rank_variables_and_directory(self, mpi_bench: Bench) -> None:
        value = "two words; x=y,z"
        lines = _lines(mpi_bench.ranks(env=(("SAID", value),), inputs=(("input", "x"),)))
        assert {line["said"] for line in lines} == {value}
        folders = {line["folder"] for line in lines}
        assert len(folders) == 1
        assert folders.pop().endswith(mpi_bench.token)

    def test_mpi_exit_code_is_told(self, mpi_bench: Bench) -> None:
        assert mpi_bench.ranks("exit").exit_code == 7

    def test_mpi_rank_that_dies_fails_the_job(self, mpi_bench: Bench) -> None:
        output = mpi_bench.ranks("signal")
        assert output.exit_code not in (0, None)
        assert not output.timed_out
        assert marked_processes(mpi_bench.token) == []

    def test_mpi_job_that_never_ends_is_ended_everywhere(self, mpi_bench: Bench) -> None:
        usual_s = mpi_bench.ranks().duration_s
        # It must end ranks that have started, which takes longer on a busy machine.
        for patience in (1.5, 4, 12):
            output = mpi_bench.ranks("sleep", timeout_s=patience * usual_s)
            assert output.timed_out
            assert marked_processes(mpi_bench.token) == []
            if len(output.stdout.splitlines()) == 2:
                break
        else:
            pytest.fail("the ranks had not even started")
        # And the platform is as good as new.
        assert len(_lines(mpi_bench.ranks())) == 2

    def test_mpi_facts_name_the_library_that_is_used(self, mpi_bench: Bench) -> None:
        facts = mpi_bench.allocation.facts()
        assert facts["mpi.flavour"] == mpi_bench.options.mpi
        assert facts["mpi.transport"] == mpi_bench.options.transport

    def test_more_ranks_than_cores_run_with_a_caveat(self, mpi_bench: Bench) -> None:
        cores = _hosts(mpi_bench).nodes[0].cores
        layout = Layout(1, cores + 1, 1)
        assert "oversubscribed" in mpi_bench.allocation.caveats(layout)
        assert "oversubscribed" not in mpi_bench.allocation.caveats(Layout(1, 1, 1))
        assert len(_lines(mpi_bench.ranks(layout=layout))) == cores + 1


def _lines(output: Output) -> list[dict[str, Any]]:
    assert output.exit_code == 0, output.stderr
    lines = [json.loads(line) for line in output.stdout.splitlines()]
    return sorted(lines, key=lambda line: int(line["rank"]))
