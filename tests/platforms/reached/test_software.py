"""What a program wants loaded before it: real modules; Spack and conda by what they document."""

import os
import subprocess

import pytest
from pydantic import ValidationError

from bareline.platforms.reached.remote.software import loader
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.platforms.reached.ssh.options import SshOptions


def run(folder, software, **env):
    """Print a variable behind the words that load something."""
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    # A login shell sets the path anew, as it does on a node.
    (folder / ".bash_profile").write_text(f'export PATH="{path}"\n')
    return subprocess.run(
        [*loader(software), "sh", "-c", "echo $BARELINE_SAYS"],
        env={**os.environ, "HOME": str(folder), **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def program(folder, name, text):
    (folder / "bin").mkdir(exist_ok=True)
    path = folder / "bin" / name
    path.write_text(f"#!/bin/sh\n{text}")
    path.chmod(0o755)


def has_modules():
    asked = subprocess.run(["bash", "-lc", "type module"], capture_output=True, check=False)
    return asked.returncode == 0


@pytest.mark.skipif(not has_modules(), reason="needs environment modules in a login shell")
def test_modules_are_loaded_in_their_order(tmp_path):
    for name in ("first", "second"):
        (tmp_path / "files" / "says").mkdir(parents=True, exist_ok=True)
        (tmp_path / "files" / "says" / name).write_text(
            f"#%Module\nappend-path BARELINE_SAYS {name}\n"
        )
    options = SlurmOptions(modules=("says/first",), software=("module:says/second",))
    assert options.wanted == ("module:says/first", "module:says/second")
    done = run(tmp_path, options.wanted, MODULEPATH=str(tmp_path / "files"))
    assert (done.stdout, done.returncode) == ("first:second\n", 0)
    missing = run(tmp_path, ("module:says/third",), MODULEPATH=str(tmp_path / "files"))
    assert missing.returncode == 126
    assert missing.stderr.strip() == "the module 'says/third' cannot be loaded"


#: ``spack env activate --sh`` prints what a shell has to evaluate, and nothing of what failed.
_SPACK = """
[ "$1 $2 $3" = "env activate --sh" ] || exit 2
[ "$4" = /envs/mpi ] || { echo "==> Error: No such environment" >&2; exit 1; }
echo "export SPACK_ENV=$4; export BARELINE_SAYS=spack;"
"""
#: The hook of a shell defines a function of the program's own name.
_HOOK = """
[ "$1 $2" = "shell hook" ] || [ "$1" = shell.bash ] || exit 2
cat <<'SAID'
NAME() {
    [ "$2" = mpi ] || { echo "EnvironmentNameNotFound" >&2; return 1; }
    export CONDA_DEFAULT_ENV=mpi CONDA_PREFIX=/opt/envs/mpi BARELINE_SAYS=NAME
}
SAID
"""


def test_a_spack_environment_is_activated(tmp_path):
    program(tmp_path, "spack", _SPACK)
    done = run(tmp_path, ("spack:/envs/mpi",))
    assert (done.stdout, done.returncode) == ("spack\n", 0)
    missing = run(tmp_path, ("spack:/envs/other",))
    assert missing.returncode and "'/envs/other'" in missing.stderr


@pytest.mark.parametrize("tool", ["conda", "micromamba"])
def test_a_conda_environment_is_activated(tmp_path, tool):
    program(tmp_path, tool, _HOOK.replace("NAME", tool).replace(f"Environment{tool}", "Name"))
    done = run(tmp_path, ("conda:mpi",))
    assert (done.stdout, done.returncode) == (f"{tool}\n", 0)
    missing = run(tmp_path, ("conda:other",))
    assert missing.returncode and "'other'" in missing.stderr


@pytest.mark.parametrize(
    ("software", "manager"), [("spack:/envs/mpi", "Spack"), ("conda:mpi", "conda")]
)
def test_a_manager_that_is_not_there_is_named(tmp_path, software, manager):
    program(tmp_path, "true", "exit 0\n")
    done = run(tmp_path, (software,), SPACK_ROOT="")
    assert done.returncode == 126
    assert manager in done.stderr


@pytest.mark.parametrize("name", ["openmpi/4.1", "module:", "module:$(id)", "spack:-h", "pip:mpi"])
def test_the_same_wording_on_ssh_and_slurm(name):
    given = ("module:openmpi/4.1", "spack:/envs/mpi", "conda:mpi")
    ssh = SshOptions(hosts=("n1",), software=given)
    assert ssh.wanted == SlurmOptions(software=given).wanted == given
    for make in (SlurmOptions, lambda **more: SshOptions(hosts=("n1",), **more)):
        with pytest.raises(ValidationError):
            make(software=(name,))
