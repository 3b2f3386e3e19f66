"""Programs on the nodes of a cluster: bareline's own, built there, and what modules bring."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from native_project import project

from bareline.build.record import build_of_another
from bareline.build.sources import sources_key
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.localhost.netns import links
from bareline.platforms.reached.remote.native import find_there
from bareline.platforms.reached.slurm.platform import SlurmPlatform
from bareline.platforms.reached.ssh.platform import SshPlatform
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BuildError, PlatformError, ToolMissing
from bareline.vocabulary.model import Command, Layout

pytestmark = [pytest.mark.netns, pytest.mark.mpi]
__all__ = ["project"]


def hello(allocation):
    command = Command(argv=("{native}/hello",), mpi=True)
    said = allocation.run(command, Layout(2), timeout_s=60)
    assert said.exit_code == 0, said.stderr
    return sorted(said.stdout.splitlines())


# Over ssh ----------------------------------------------------------------------------------------


def test_programs_are_built_on_the_first_host_once_and_taken_from_there(
    ssh_options, project, make_spec, acquire, tmp_path
):
    spec = make_spec("ssh", mpi="openmpi", **ssh_options)
    made = SshPlatform.build(spec, tmp_path / "cache")
    assert made.host == "node1"
    assert ", Open MPI " in made.toolchain
    assert made.left_out == ("hello_blas: no BLAS",)
    assert made.seconds > 0 and not made.cached
    again = SshPlatform.build(spec, tmp_path / "cache")
    assert (again.cached, again.path, again.seconds) == (True, made.path, made.seconds)
    for way in ("copy", "shared"):
        with acquire("ssh", mpi="openmpi", native=way, **ssh_options) as hosts:
            assert hello(hosts) == ["hello from node1", "hello from node2"]
            assert (hosts.native_folder() == str(made.programs)) == (way == "shared")
    assert project.builds == 1
    assert not (tmp_path / "cache" / "native").exists(), "nothing was built here"


def test_sources_that_do_not_compile_there_show_the_compilers_words(
    ssh_options, project, make_spec, tmp_path
):
    project.break_it()
    with raises(BuildError, "BL-PLATFORMS-367", "nonsense") as caught:
        SshPlatform.build(make_spec("ssh", mpi="openmpi", **ssh_options), tmp_path)
    assert caught.value.where == "node1"
    log = (caught.value.hint or "").rpartition("node1:")[2]
    assert "nonsense" in Path(log).read_text()


@pytest.mark.parametrize(
    ("missing", "code", "step"),
    [
        ({"cmake"}, "BL-PLATFORMS-895", "`apt-get install cmake`"),
        ({"cc", "gcc"}, "BL-PLATFORMS-895", "`apt-get install gcc`"),
        ({"mpicc", "mpicc.openmpi"}, "BL-PLATFORMS-602", "`software`"),
    ],
)
def test_a_host_without_a_compiler_is_named_with_the_next_step(
    ssh_cluster, ssh_options, project, make_spec, tmp_path, missing, code, step
):
    with without(ssh_cluster[0], missing) as config:
        options = {**ssh_options, "config": config, "hosts": ("bare",)}
        with raises(ToolMissing, code, step) as caught:
            SshPlatform.build(make_spec("ssh", mpi="openmpi", **options), tmp_path)
    assert caught.value.where == "bare"
    assert project.builds == 0


@pytest.mark.parametrize("missing", [{"cmake"}, {"cc", "gcc"}, {"mpicc", "mpicc.openmpi"}])
def test_without_a_compiler_what_another_node_has_built_will_do(
    ssh_cluster, ssh_options, project, make_spec, acquire, tmp_path, missing
):
    made = SshPlatform.build(make_spec("ssh", mpi="openmpi", **ssh_options), tmp_path)
    sources = sources_key(project.folder)
    with without(ssh_cluster[0], missing) as config:
        options = {**ssh_options, "config": config, "hosts": ("bare",)}
        with acquire("ssh", mpi="openmpi", **options) as hosts:
            found, _ = find_there(hosts)
    assert found is not None
    assert (found.path, found.toolchain, found.cached) == (made.path, made.toolchain, True)
    # This machine sees the cache, too: what a node has built needs no compiler here.
    openmpi = MpiInstallation("openmpi", find_mpi("openmpi").version, "mpirun", None)
    taken = build_of_another(made.path.parent, sources, openmpi)
    assert taken is not None and taken.path == made.path
    assert taken.left_out == made.left_out
    assert build_of_another(made.path.parent, "0" * 12, openmpi) is None
    other = MpiInstallation("mpich", "4.0.2", "mpirun", None)
    assert build_of_another(made.path.parent, sources, other) is None
    (made.path / "machine").write_text("riscv64\n")
    assert build_of_another(made.path.parent, sources, openmpi) is None


class without:
    """A second sshd on the second host, whose path lacks some programs."""

    def __init__(self, machines, missing):
        self.machines, self.missing = machines, missing
        self.folder = machines.folder / f"without-{'-'.join(sorted(missing))}"

    def __enter__(self):
        self.folder.mkdir()
        for program in Path("/usr/bin").iterdir():
            if program.name not in self.missing:
                (self.folder / program.name).symlink_to(program)
        other = (
            self.folder / "clang"
        )  # another compiler does not stand in for the one that is named
        if "gcc" in self.missing and not other.exists():
            other.symlink_to("/usr/bin/gcc")
        common = (self.machines.folder / "sshd_config").read_text()
        (self.folder / ".sshd").write_text(
            common.replace("SHLVL=2", f"SHLVL=2 PATH={self.folder}") + "Port 2222\n"
        )
        sshd = shutil.which("sshd", path="/usr/sbin")
        argv = [sshd, "-D", "-e", "-f", str(self.folder / ".sshd")]
        self.daemon = self.machines.start(1, argv, "bare.log")
        address = links.host_address(1)
        config = self.folder / ".config"
        config.write_text(
            f"Host bare\n  HostName {address}\n  HostKeyAlias {address}\n  Port 2222\n"
            + (self.machines.folder / "ssh_config").read_text()
        )
        line = ["ssh", "-F", str(config), "-o", "ConnectionAttempts=20", "bare", "true"]
        subprocess.run(line, check=True)
        return config

    def __exit__(self, *_):
        self.machines.stop(self.daemon)
        shutil.rmtree(self.folder)


@pytest.fixture
def modules():
    """Give the folder of modules, with one that brings an Open MPI under another path."""
    if (
        "module"
        not in subprocess.run(
            ["bash", "-lc", "type module"], capture_output=True, text=True, check=False
        ).stdout
    ):
        pytest.skip("no environment modules here (Debian: environment-modules)")

    def make(folder):
        programs = folder / "opt" / "bin"
        programs.mkdir(parents=True, exist_ok=True)
        for name in ("mpirun.openmpi", "mpicc.openmpi", "orted"):
            link = programs / name.removesuffix(".openmpi")
            if not link.exists():
                link.symlink_to(shutil.which(name))
        (programs / "only-here").write_text("#!/bin/sh\necho brought\n")
        (programs / "only-here").chmod(0o755)
        (folder / "modules" / "ours").mkdir(parents=True, exist_ok=True)
        (folder / "modules" / "ours" / "4.1").write_text(
            f"#%Module1.0\nprepend-path PATH {programs}\nsetenv SAID {{it's loaded}}\n"
        )
        return programs

    return make


def check_modules(allocation, programs):
    assert allocation.mpi.mpirun == f"{programs}/mpirun"
    assert allocation.mpi.mpicc == f"{programs}/mpicc"
    for mpi, layout, count in ((False, Layout(), 1), (True, Layout(2), 2)):
        command = Command(argv=("sh", "-c", 'echo "$SAID $OWN"'), mpi=mpi, env=(("OWN", "a b"),))
        output = allocation.run(command, layout, timeout_s=60)
        assert output.stdout == "it's loaded a b\n" * count, output.stderr
    brought = Command(argv=("only-here",), requires=("only-here",))
    assert allocation.run(brought, Layout(), timeout_s=60).stdout == "brought\n"
    lacking = Command(argv=("true",), requires=("no-such-tool",))
    with raises(ToolMissing, "BL-HOST-246", "'no-such-tool'"):
        allocation.run(lacking, Layout(), timeout_s=60)


def test_modules_are_loaded_on_every_host(ssh_cluster, ssh_options, modules, acquire):
    programs = modules(ssh_cluster[0].folder)
    with acquire("ssh", modules=("ours/4.1",), **ssh_options) as hosts:
        check_modules(hosts, programs)


def test_a_module_that_there_is_not_names_the_host(ssh_cluster, ssh_options, modules, acquire):
    modules(ssh_cluster[0].folder)
    with (
        raises(PlatformError, "BL-PLATFORMS-556", "'nonsense/1'", "`module avail`") as caught,
        acquire("ssh", modules=("ours", "nonsense/1"), **ssh_options),
    ):
        pass
    assert caught.value.where == "node1"


# In Slurm ----------------------------------------------------------------------------------------

SLURM = {"subnet": "10.94.0.0/24", "time_min": 10, "mpi": "openmpi"}


@pytest.mark.slurm
def test_programs_are_built_on_a_node_and_copied(
    slurm_cluster, project, make_spec, acquire, tmp_path, monkeypatch
):
    monkeypatch.setenv("BARELINE_CACHE", str(tmp_path / "cache"))
    made = SlurmPlatform.build(make_spec("slurm", native="copy", **SLURM), tmp_path / "cache")
    assert made.host.startswith("node") and not made.cached
    assert made.path.parent == tmp_path / "cache"
    with acquire("slurm", native="copy", **SLURM) as nodes:
        assert hello(nodes) == [f"hello from {node.name}" for node in nodes.nodes]
    assert project.builds == 1
    assert not (tmp_path / "cache" / "native").exists(), "nothing was built here"
    assert not list(Path("/tmp").glob(f"bareline-{os.getpid()}-*.native"))


@pytest.mark.slurm
@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_modules_are_loaded_on_every_node(
    slurm_cluster, modules, acquire, tmp_path, monkeypatch, launcher
):
    programs = modules(tmp_path)
    monkeypatch.setenv("MODULEPATH", str(tmp_path / "modules"))
    options = {**SLURM, "mpi": "auto", "launcher": launcher}
    with acquire("slurm", modules=("ours",), **options) as nodes:
        check_modules(nodes, programs)
    with (
        raises(PlatformError, "BL-PLATFORMS-556", "'nonsense'") as caught,
        acquire("slurm", modules=("nonsense",), **options),
    ):
        pass
    assert caught.value.where in ("node1", "node2", "node3", "node4")
