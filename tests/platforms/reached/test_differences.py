"""Nodes whose processors differ are held to the instruction set that all of them have."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from bareline.platforms.hosts.process import marked_processes
from bareline.platforms.hosts.scripts.description import common_set
from bareline.testing.bench import Bench
from bareline.vocabulary.instructions import KERNEL_SETS
from bareline.vocabulary.model import Layout

AVX2 = ("sse2", "avx", "avx2", "fma", "bmi1", "bmi2")
AVX512 = (*AVX2, "avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl")


@pytest.mark.parametrize(
    ("flags", "chosen"),
    [
        ((AVX512, AVX2), "avx2"),
        ((AVX512, ("sse2",)), "generic"),
        ((AVX2, (*AVX512[:-1],)), "avx2"),
        # Neither has what the other one has beyond SSE2.
        ((("sse2", "avx2", "fma"), ("sse2", "bmi1", "bmi2")), "generic"),
        (((*AVX512, "amx_tile"), AVX512), "avx512"),
    ],
)
def test_the_common_set_is_what_all_have(flags, chosen):
    found = common_set({f"n{number}": each for number, each in enumerate(flags)})
    assert found is not None
    assert found.chosen.name == chosen
    assert all(found.chosen.flags <= set(each) for each in flags)


@pytest.mark.parametrize(
    "flags", [(AVX2, AVX2), (AVX2,), (("asimd",), ("asimd", "sve")), (AVX2, ("x2apic", *AVX2))]
)
def test_nodes_alike_and_other_architectures_choose_for_themselves(flags):
    assert common_set({f"n{number}": each for number, each in enumerate(flags)}) is None


def test_the_sets_are_those_of_the_native_programs():
    native = Path(__file__).parents[3] / "native"
    source = (native / "common" / "bl_dispatch.c").read_text()
    assert set(re.findall(r'\[BL_\w+\] = "(\w+)"', source)) == {one.name for one in KERNEL_SETS}
    asked = set(re.findall(r'__builtin_cpu_supports\("(\w+)"\)', source))
    assert {flag.replace("bmi1", "bmi") for one in KERNEL_SETS for flag in one.flags} == asked


def plant(machines, host, hidden):
    """Let a host's processor claim fewer flags; give what to undo it with."""
    text = Path("/proc/cpuinfo").read_text()
    kept = re.sub(rf"\b(?:{hidden})\w*", "", text)
    planted = machines.folder / "cpuinfo"
    planted.write_text(kept)
    machines.check(host, "mount", "--bind", str(planted), "/proc/cpuinfo")
    return lambda: machines.check(host, "umount", "/proc/cpuinfo")


@pytest.mark.netns
@pytest.mark.mpi
@pytest.mark.slow
def test_every_rank_runs_the_build_that_all_nodes_have(ssh_cluster, ssh_options, acquire):
    machines, _ = ssh_cluster
    if "avx2" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has nothing to hide")
    undo = plant(machines, 1, "avx|fma|bmi")
    try:
        with acquire("ssh", mpi="openmpi", **ssh_options) as hosts:
            bench = Bench(hosts, None)
            (told,) = [text for text in hosts.events() if "instruction sets differ" in text]
            assert re.search(r"node2 lacks AVX,.*every node uses 'generic'", told)
            facts = hosts.facts()
            assert facts["cpu.common_set"] == "generic"
            assert facts["node[1].cpu.flags.avx2"] is False
            # The host that has all: alone and in a job, kernels and benchmarks of the node.
            for program, words in (
                ("npb_ep", ("S",)),
                ("nodebench", ("stream", "--size", "1M", "--repeat", "2")),
            ):
                output = bench.run(f"{{native}}/{program}", *words, mpi=program == "npb_ep")
                assert output.exit_code == 0, output.stderr
                header = json.loads(output.stdout.partition("\n")[0])
                assert header.get("instruction_set") or header["options"]["instruction_set"]
                assert '"generic"' in output.stdout.partition("\n")[0]
            peak = bench.run("{native}/nodebench", "peak")
            assert re.findall(r'"instructions":\s*"([^"]*)"', peak.stdout) == ["sse2"]
            assert programs_of_ranks(bench) == {"generic"}
        undo()
        undo = None
        with acquire("ssh", mpi="openmpi", **ssh_options) as hosts:
            assert not any("differ" in text for text in hosts.events())
            assert "cpu.common_set" not in hosts.facts()
            output = Bench(hosts, None).run("{native}/npb_ep", "S", mpi=True)
            assert '"generic"' not in output.stdout.partition("\n")[0]
    finally:
        if undo is not None:
            undo()


def programs_of_ranks(bench):
    """Tell which builds the ranks of a job over both hosts are, while they run."""
    import threading

    def work():
        bench.run("{native}/npb_ep", "W", mpi=True, layout=Layout(2), timeout_s=60)

    thread = threading.Thread(target=work)
    thread.start()
    found = {}
    try:
        while thread.is_alive() and len(found) < 2:
            for pid in marked_processes(bench.token):
                try:
                    path = str(Path(f"/proc/{pid}/exe").readlink())
                except OSError:
                    continue
                if "/kernels/" in path:
                    found[pid] = Path(path).parent.name
            time.sleep(0.02)
    finally:
        thread.join()
    assert len(found) == 2, found
    return set(found.values())
