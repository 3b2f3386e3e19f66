"""Programs of a module, looked for on the nodes themselves: over ssh, and in Slurm's steps."""

from __future__ import annotations

import shutil

import pytest

from bareline.session.sources import Sources
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ToolMissing
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.sources import Source

pytestmark = [pytest.mark.netns, pytest.mark.mpi]
MODULE = "#%Module\nprepend-path PATH {bin}\nsetenv EBROOTTINY {root}\n"


@pytest.fixture
def tiny(tmp_path):
    """Write a program and its module into folders that all nodes have; give the module path."""
    program = tmp_path / "tiny-1.0" / "bin" / "tiny"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\necho "$(uname -n) $0"\n')
    program.chmod(0o755)
    module = tmp_path / "modules" / "tiny" / "1.0"
    module.parent.mkdir(parents=True)
    module.write_text(MODULE.format(bin=program.parent, root=program.parents[1]))
    return tmp_path / "modules"


def see(allocation, kind, tiny):
    learned, noted = {}, []
    sources = Sources(lambda _, facts: learned.update(facts), lambda *what: noted.append(what))
    spec = PlatformSpec(kind, kind, None, environment=(("MODULEPATH", str(tiny)),))
    command = Command(argv=("tiny",), mpi=True, requires=("tiny",))

    def furnish(name):
        return sources.furnish("app.tiny", Source(name=name), spec, allocation, command)

    made = furnish("easybuild:tiny/1.0")
    said = allocation.run(made, Layout(2), timeout_s=60)
    program = tiny.parent / "tiny-1.0" / "bin" / "tiny"
    assert said.exit_code == 0, said.stderr
    assert sorted(said.stdout.splitlines()) == [f"node1 {program}", f"node2 {program}"]
    assert learned["from.app.tiny.prefix"] == str(program.parents[1])
    assert furnish("easybuild:tiny/1.0") == made and len(noted) == 1
    sources = Sources(lambda *_: None, lambda *_: None)
    with raises(ToolMissing, "BL-SESSION-716", "'tiny/2.0'"):
        sources.furnish("app.tiny", Source(name="easybuild:tiny/2.0"), spec, allocation, command)


@pytest.mark.skipif(shutil.which("modulecmd") is None, reason="no environment modules")
def test_over_ssh(ssh_options, acquire, tiny):
    with acquire("ssh", mpi="openmpi", **ssh_options) as hosts:
        see(hosts, "ssh", tiny)


@pytest.mark.slurm
@pytest.mark.skipif(shutil.which("modulecmd") is None, reason="no environment modules")
@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_in_slurm(slurm_cluster, acquire, tiny, launcher):
    options = {"subnet": "10.94.0.0/24", "time_min": 10, "nodes": 2}
    with acquire("slurm", mpi="openmpi", launcher=launcher, **options) as nodes:
        see(nodes, "slurm", tiny)
