"""The doctor on this machine, on one without any program, and on captured nodes."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pytest
from record import processor_s
from rich.console import Console

import bareline
from bareline.doctor.check import Area, Health, HostCheck, examine, look_safely
from bareline.doctor.conditions import judge
from bareline.doctor.isolation import kvm, runtimes
from bareline.doctor.programs import benchmarks, program
from bareline.doctor.purposes import lines, purposes
from bareline.doctor.render import render, render_purposes, summary, to_rows
from bareline.doctor.study import needs
from bareline.doctor.toolchain import cache, native_programs
from bareline.facts.gather import parse_node
from bareline.platforms.made.vm import preflight as accel
from bareline.platforms.made.vm.preflight import KvmVerdict
from bareline.probes.base import required_programs
from bareline.study.catalogue import find_study
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError

FACTS = Path(__file__).parents[1] / "facts" / "data"
SOURCE = str(Path(bareline.__file__).parent.parent)


@pytest.fixture(scope="module")
def checks(tmp_path_factory: pytest.TempPathFactory) -> Iterable[list[HostCheck]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BARELINE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield examine()


def find(checks: Iterable[HostCheck], name: str) -> HostCheck:
    return next(check for check in checks if check.name == name)


# This machine ------------------------------------------------------------------------------------


def test_every_area_is_looked_at(checks: list[HostCheck]) -> None:
    assert {check.group for check in checks} == set(Area) - {Area.PLATFORMS, Area.CLAIMS}
    # The detail of a check that failed names the class of the error.
    assert not [check for check in checks if re.search(r"\b[A-Z]\w+Error\b", check.detail)]


def test_no_finding_twice_and_none_empty(checks: list[HostCheck]) -> None:
    names = [(check.group, check.name) for check in checks]
    assert len(names) == len(set(names))
    assert all(check.detail for check in checks)


def test_what_cannot_be_used_comes_with_a_next_step(checks: list[HostCheck]) -> None:
    no_command_mends = {"RDMA devices", "SR-IOV adapters"}
    lost = [c.name for c in checks if c.status is Health.MISSING and not c.hint]
    assert set(lost) <= no_command_mends


def test_findings_are_true(checks: list[HostCheck]) -> None:
    assert find(checks, "bareline").status is Health.OK
    assert find(checks, "libraries").status is Health.OK
    assert find(checks, "native programs").status is Health.WARN  # the cache is empty
    for name, title in (("nuttcp", "nuttcp"), ("cmake", "CMake"), ("qemu-img", "qemu-img")):
        assert (find(checks, title).status is Health.OK) == (shutil.which(name) is not None)
    cores = find(checks, "cores").detail
    assert cores.startswith(str(len(os.sched_getaffinity(0))))


def test_every_program_of_a_probe_is_looked_for(
    checks: list[HostCheck], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = {check.name for check in checks if check.group is Area.PROGRAMS}
    assert set(required_programs()) <= names
    assert "sh" not in names, "the shell is no benchmark"
    # A new probe, and a program that no table knows.
    monkeypatch.setattr(
        "bareline.doctor.programs.required_programs", lambda: {"flowcart": ("app.flowcart",)}
    )
    found = find(benchmarks(), "flowcart")
    assert found.status is Health.MISSING
    assert "app.flowcart" in found.detail and "'flowcart'" in found.hint


@pytest.mark.netns
def test_namespaces_are_tried_for_real(checks: list[HostCheck]) -> None:
    line = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--net"]
    allowed = subprocess.run([*line, "true"], capture_output=True, check=False).returncode == 0
    assert (find(checks, "namespaces").status is Health.OK) == allowed
    if allowed:
        assert find(checks, "virtual links").status is Health.OK


@pytest.mark.skipif(shutil.which("mkfs.ext4") is None, reason="mkfs.ext4 is not installed")
def test_a_file_system_can_be_mounted_by_root(checks: list[HostCheck]) -> None:
    found = find(checks, "loop-ext4")
    devices = Path("/dev/loop-control").exists()
    assert (found.status is Health.OK) == (os.geteuid() == 0 and devices), found.detail
    if os.geteuid() != 0:
        assert found.hint


def test_it_uses_little_processor_time() -> None:
    before = processor_s()
    examine()
    # Two seconds on an idle machine, however long a busy one keeps it waiting.
    assert processor_s() - before < 20


@pytest.mark.mpi
def test_deep_runs_two_ranks_with_every_library(checks: list[HostCheck]) -> None:
    shallow = {c.name: c.detail for c in checks if c.group is Area.MPI and c.status is Health.OK}
    if not shallow:
        pytest.skip("no MPI library with a compiler")
    deep = [c for c in examine(deep=True) if c.group is Area.MPI and c.name in shallow]
    assert [c.detail for c in deep if c.status is not Health.OK] == []
    # The detail then also has the duration of the job.
    assert [c.detail for c in deep if c.detail == shallow[c.name]] == []


# Ill machines ------------------------------------------------------------------------------------


def test_machine_without_any_program(tmp_path: Path) -> None:
    code = (
        "import json; from bareline.doctor.check import examine;"
        "from bareline.doctor.render import to_rows;"
        "print(json.dumps(to_rows(examine(deep=True))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": str(tmp_path), "PYTHONPATH": SOURCE, "BARELINE_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    for name in ("CMake", "nuttcp", "Open MPI", "MPICH", "namespaces", "Slurm", "SimGrid SMPI"):
        assert rows[name]["status"] == "missing", name
        assert rows[name]["hint"], name
    assert "'sh'" in rows["conditions"]["detail"]
    assert "clouds.yaml" in rows["OpenStack"]["detail"] + rows["OpenStack"]["hint"] or (
        "bareline[openstack]" in rows["OpenStack"]["hint"]
    )


def test_toolchains_are_counted_not_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path))
    for name in ("0123abcd-1", "0123abcd-2", "4567abcd-1"):
        (tmp_path / "native" / name / "bin").mkdir(parents=True)
        (tmp_path / "native" / name / "bin" / "mpibench").touch()
        (tmp_path / "native" / name / "build.json").touch()
    (found,) = look_safely(native_programs, "native programs", Area.BUILD)
    assert "2 toolchains" in found.detail and "mpibench" in found.detail


def test_unusable_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("", encoding="ascii")
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "file" / "cache"))
    (found,) = look_safely(cache, "cache", Area.BARELINE)
    assert found.status is Health.MISSING
    assert "BARELINE_CACHE" in found.hint


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        ("echo fio-3.99", "3.99 "),
        ("kill -9 $$", "does not run"),
        ("exit 1", "/"),  # a program that knows no --version is still there
    ],
)
def test_program_that_misbehaves(
    script: str, detail: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "fio"
    fake.write_text(f"#!/bin/sh\n{script}\n", encoding="ascii")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = program("fio")
    assert detail in found.detail
    assert (found.status is Health.OK) == ("kill" not in script)


def test_a_failing_look_keeps_what_it_found() -> None:
    def look() -> Iterable[HostCheck]:
        yield HostCheck("first", Health.OK, "fine", group=Area.MPI)
        raise ZeroDivisionError("planted")

    found = look_safely(look, "planted look", Area.MPI)
    assert [check.status for check in found] == [Health.OK, Health.WARN]
    assert found[1].name == "planted look"
    assert "ZeroDivisionError: planted" in found[1].detail


def test_a_known_error_gives_its_hint() -> None:
    def look() -> Iterable[HostCheck]:
        raise PlatformError("nothing here", hint="do that")

    assert look_safely(look, "x", Area.MPI) == [
        HostCheck("x", Health.MISSING, "nothing here", "do that", group=Area.MPI)
    ]


@pytest.mark.parametrize(
    ("verdict", "status", "reason"),
    [
        (KvmVerdict(True), Health.OK, ""),
        (KvmVerdict(False, "a guest died at once"), Health.WARN, "a guest died at once"),
    ],
)
def test_kvm_is_believed_when_a_guest_was_tried(
    verdict: KvmVerdict, status: Health, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accel, "known_verdict", lambda _folder: verdict)
    (found,) = kvm()
    assert found.status is status
    assert reason in found.detail


def test_the_kind_of_kvm_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under kvm_pvm the kernels that distributions have never come up: none is tried."""
    device, modules = tmp_path / "kvm", tmp_path / "module"
    device.touch()
    monkeypatch.setattr(accel, "_DEVICE", device)
    monkeypatch.setattr(accel, "_MODULES", modules)
    (modules / "kvm_pvm").mkdir(parents=True)
    (found,) = kvm()
    assert found.status is Health.WARN
    assert "kvm_pvm" in found.detail
    assert accel.choose_accelerator("auto", tmp_path, None) == "tcg"
    assert accel.choose_accelerator("kvm", tmp_path, None, own_kernel=True) == "kvm"
    with raises(PlatformError, "BL-PLATFORMS-589", "kvm_pvm"):
        accel.choose_accelerator("kvm", tmp_path, None)
    with monkeypatch.context() as ordinary:
        ordinary.setattr(accel.os, "access", lambda *_: False)
        (found,) = kvm()
    assert found.status is Health.WARN and "kvm_pvm" in found.detail
    assert "kernel = PATH" in found.hint and "usermod" not in found.hint
    (modules / "kvm_pvm").rename(modules / "kvm_amd")
    monkeypatch.setattr(accel, "known_verdict", lambda _folder: KvmVerdict(True))
    (found,) = kvm()
    assert found.status is Health.OK
    assert "/dev/kvm" in found.detail and "kvm_amd" in found.detail


# Conditions --------------------------------------------------------------------------------------


def spoiled(facts: dict[str, str | int | float | bool]) -> set[str]:
    return {check.name for check in judge(facts) if check.status is Health.WARN}


def test_node_that_spoils_measurements() -> None:
    facts = parse_node((FACTS / "intel-smt.out").read_text(encoding="utf-8"))
    expected = {"SMT", "governor", "turbo", "clock source", "transparent huge pages"}
    assert spoiled(facts) == expected | {"NUMA balancing"}
    # hpet is all that this node has: the counter must be switched on at boot.
    assert "tsc=reliable" in find(judge(facts), "clock source").hint


def test_guest_that_is_fit_but_virtual() -> None:
    facts = parse_node((FACTS / "kvm-guest.out").read_text(encoding="utf-8"))
    assert spoiled({**facts, "load.one_minute": 0.1}) == {"hardware"}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"cpu.allowed": 1}, "cores"),
        ({"cpu.quota_cores": 1.5}, "processor quota"),
        ({"cpu.steal_ratio": 0.02}, "steal time"),
        ({"load.one_minute": 1.5}, "load"),
        ({"memory.available_bytes": 1 << 20}, "memory"),
        ({"clock.source": "acpi_pm"}, "clock source"),
    ],
)
def test_one_thing_wrong(change: dict[str, int | float | str], name: str) -> None:
    facts = parse_node((FACTS / "kvm-guest.out").read_text(encoding="utf-8"))
    calm = {**facts, "load.one_minute": 0.1}
    assert spoiled({**calm, **change}) - spoiled(calm) == {name}
    assert all(check.hint for check in judge({**calm, **change}) if check.name == name)


def test_what_is_not_known_is_not_judged() -> None:
    assert list(judge({})) == []


# Display -----------------------------------------------------------------------------------------

_SAMPLE = [
    HostCheck(
        "nuttcp",
        Health.MISSING,
        "not installed",
        "install it with `x y z` " * 6,
        group=Area.PROGRAMS,
    ),
    HostCheck("Open MPI", Health.OK, "4.1.4", "never shown", group=Area.MPI),
    HostCheck("SMT", Health.WARN, "on [sic]", "bind", group=Area.LOCAL),
]


def shown(
    checks: list[HostCheck], *, terminal: bool, width: int = 60, encoding: str = "utf-8"
) -> str:
    buffer = io.BytesIO()
    file = io.TextIOWrapper(buffer, encoding=encoding, newline="\n")
    colours: Literal["standard", "auto"] = "standard" if terminal else "auto"
    console = Console(file=file, width=width, force_terminal=terminal, color_system=colours)
    render(checks, console)
    file.flush()
    return buffer.getvalue().decode(encoding)


def test_plain_output_keeps_commands_in_one_piece() -> None:
    text = shown(_SAMPLE, terminal=False)
    assert "\x1b" not in text
    assert text.count("`x y z`") == 6
    assert [line for line in text.splitlines() if "→" in line and line.count("`x y z`") == 6]
    assert "never shown" not in text
    assert "on [sic]" in text  # no console markup is read into findings
    assert text.splitlines()[-1] == "1 work, 1 deserve a look, 1 cannot be used here"
    assert not [line for line in text.splitlines() if line != line.rstrip()]


def test_terminal_output_fits_and_follows_the_areas() -> None:
    text = shown(_SAMPLE, terminal=True)
    assert "\x1b[32m✓" in text
    order = [text.index(word) for word in ("Open MPI", "SMT", "nuttcp")]
    assert order == sorted(order)
    plain = shown(_SAMPLE, terminal=False).splitlines()
    assert max(map(len, plain)) > 60
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in text.splitlines()]
    assert max(map(len, lines)) <= 60


def test_a_finding_on_a_narrow_terminal_stands_below_its_name() -> None:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown(_SAMPLE, terminal=True, width=34)).splitlines()
    assert max(map(len, lines)) <= 34
    name = lines.index("  – nuttcp")
    assert lines[name + 1 : name + 3] == ["     not installed", "     → install it with `x y z`"]


def test_output_in_ascii() -> None:
    text = shown(_SAMPLE, terminal=False, encoding="ascii")
    assert "  + Open MPI" in text
    assert "> install" in text


def test_rows_for_programs() -> None:
    rows = to_rows(_SAMPLE)
    assert json.loads(json.dumps(rows)) == rows
    assert rows[2] == {
        "group": "Measuring on this machine",
        "name": "SMT",
        "status": "warn",
        "detail": "on [sic]",
        "hint": "bind",
    }
    assert summary([]).startswith("0 work")


def test_container_runtimes_are_told_one_by_one_and_those_that_are_not_here_together(
    monkeypatch, tmp_path
):
    lines = {"bwrap": "echo 0.8.0; [ $1 = --version ] || { echo no right >&2; exit 1; }"}
    lines["podman"] = "echo podman version 4.3.1"
    # As Docker says it: the reason first, where to read on last.
    lines["docker"] = (
        "[ $1 = --version ] && echo Docker version 20.10 && exit; "
        "printf 'docker: Cannot connect to the daemon.\\n\\nRun docker --help\\n' >&2; exit 1"
    )
    for name, line in lines.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/nonexistent")
    bubblewrap, podman, docker, others = runtimes()
    assert (bubblewrap.name, bubblewrap.status) == ("bubblewrap", Health.WARN)
    assert "no right" in bubblewrap.detail
    assert (podman.name, podman.status) == ("Podman", Health.OK)
    assert podman.detail.startswith("4.3.1 ")
    assert docker.status is Health.WARN
    assert docker.detail.endswith("docker: Cannot connect to the daemon.")
    assert docker.hint
    assert "Apptainer" in others.detail and "Podman" not in others.detail


# What a machine is ready for ---------------------------------------------------------------------


def _purpose(checks: list[HostCheck], name: str) -> tuple[Health, HostCheck | None]:
    limit = purposes(checks)[name]
    return limit.status if limit else Health.MISSING, limit


def test_a_purpose_is_as_ready_as_its_worst_need() -> None:
    namespaces = HostCheck("namespaces", Health.OK, "can be made as root", group=Area.NETNS)
    links = HostCheck("virtual links", Health.MISSING, "the kernel has no veth", group=Area.NETNS)
    bridge = HostCheck("bridge", Health.OK, "works", group=Area.NETNS)
    found = _purpose([namespaces, links, bridge], "two hosts on this machine")
    assert found == (Health.MISSING, links)
    assert _purpose([namespaces], "two hosts on this machine")[0] is Health.MISSING


def test_the_best_of_several_ways_counts() -> None:
    one = HostCheck("Podman", Health.MISSING, "not installed", group=Area.CONTAINERS)
    other = HostCheck("bubblewrap", Health.OK, "0.8.0", group=Area.CONTAINERS)
    assert _purpose([one, other], "containers")[0] is Health.OK
    assert _purpose([one], "containers")[1] == one


def test_a_controller_that_does_not_answer_makes_no_cluster() -> None:
    srun = HostCheck("Slurm", Health.OK, "/usr/bin/srun", group=Area.CLUSTERS)
    controller = HostCheck(
        "Slurm controller", Health.MISSING, "does not answer: dead", group=Area.CLUSTERS
    )
    said = dict(lines([srun, controller, *_NO_AREA]))
    assert "Slurm" not in said.get("ready", "")
    assert _purpose([srun, controller], "Slurm")[1] == controller


_NO_AREA = [HostCheck("ssh", Health.OK, "9.2", group=Area.CLUSTERS)]


def test_the_summary_is_short_and_names_a_command_that_works_here(checks: list[HostCheck]) -> None:
    out = io.StringIO()
    render_purposes(checks, Console(file=out, width=100))
    text = out.getvalue()
    assert text.count("\n") <= 20
    ready = _purpose(checks, "two hosts on this machine")[0] is not Health.MISSING
    if _purpose(checks, "one node")[0] is not Health.MISSING:
        assert ("--on bare-pair" in text) == ready
    assert "bareline doctor --all" in text


def test_a_study_is_told_what_its_roles_and_probes_need() -> None:
    study = find_study("nebula")
    found = list(needs(study.named_platforms, study.probes))
    names = {check.name: check for check in found}
    assert {"bare: bare-pair", "nuttcp"} <= set(names)
    assert not {"iperf3", "fio"} & set(names), "no probe of the study runs them"
    lost = [check for check in found if check.status is Health.MISSING]
    assert all(check.detail and check.hint for check in lost)
