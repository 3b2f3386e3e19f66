"""Nodes of a Slurm cluster in use: their allocation, trials, replacement and release."""

from __future__ import annotations

import re
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from bareline.host.owner import owner_mark
from bareline.platforms.base import Context
from bareline.platforms.hosts.launchers.installation import MpiInstallation, find_mpi
from bareline.platforms.hosts.launchers.job import Job, Network, Node
from bareline.platforms.hosts.launchers.srun import srun_argv
from bareline.platforms.hosts.nodes import run_repaired
from bareline.platforms.hosts.process import run_process
from bareline.platforms.hosts.scripts.description import Description, read_description
from bareline.platforms.hosts.scripts.node_channel import conversation, script
from bareline.platforms.reached.remote.allocation import RemoteAllocation
from bareline.platforms.reached.remote.cluster import cluster_facts, read_topology, scattered
from bareline.platforms.reached.remote.software import find_remote_mpi
from bareline.platforms.reached.slurm import commands
from bareline.platforms.reached.slurm.commands import JobState
from bareline.platforms.reached.slurm.job import SlurmJob
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.vocabulary.caveats import STARTUP_REPEATED
from bareline.vocabulary.errors import NotNow, PlatformError, TimeUp
from bareline.vocabulary.events import ASKED_AGAIN
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar
from bareline.vocabulary.nodeset import fold, nodes_text


class NodesLost(PlatformError):
    """Raised if the allocation, or one of its nodes, ended during a trial."""


class SlurmAllocation(RemoteAllocation):
    """The nodes of one Slurm job that has started; every command is a step of the job."""

    quotes = False
    lost_hint = "the allocation is renewed without the node"

    def __init__(
        self, options: SlurmOptions, context: Context, job: SlurmJob, state: JobState, wanted: int
    ) -> None:
        self._options = options
        self._job = job
        self._wanted = wanted
        self.launches_here = options.launcher == "mpirun"
        self._excluded: set[str] = set()
        target = f"{options.folder}/bareline-{owner_mark()}.native"
        super().__init__([], cache=context.cache, way=options.native, native_target=target)
        if job.inherited:
            requeued = commands.requeued(job.number)
            if requeued:
                self._events.append(requeued)
        self._use(state)

    def _use(self, state: JobState) -> None:
        """Use the nodes of a job that has started."""
        names = state.nodes[: self._wanted]
        self.nodes = tuple(Node(name, name, 1) for name in names)
        self._native.forget()
        self._tools.clear()
        self._is_tidy = False
        self.loader = []
        descriptions = self._describe(names)
        self.nodes = tuple(Node(name, name, descriptions[name].cores) for name in names)
        self.compare({name: descriptions[name].flags for name in names})
        self.load(self._options.wanted)

    def _describe(self, names: Sequence[str]) -> dict[str, Description]:
        """Return each node's description of itself; a node may first have to wake up."""
        text = script("answers") + script("description") + "describe\nsay ready\nstay\n"
        lines = self.talk_lines(range(len(names)), text, [])
        with conversation(lines, commands.outside_environment()) as talk:
            try:
                talk.wait("ready", 120.0)
            except PlatformError as error:
                # A node may just have failed, or the job may be ending: another try may succeed.
                lost = self._find_lost() or error
                raise NotNow(lost.what, where=lost.where, hint=lost.hint) from error
            return {name: read_description(name, talk.said[name]) for name in names}

    # How programs are started --------------------------------------------------------------------

    def _step(self, names: Sequence[str], cwd: str | None = None) -> list[str]:
        """Return the srun command for a step with one task on each of some nodes."""
        count = len(names)
        line = ["srun", f"--jobid={self._job.number}", "--overlap", "--mpi=none"]
        if self._binds:
            line.append("--cpu-bind=none")
        line += [f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1"]
        return [*line, f"--nodelist={fold(names)}", f"--chdir={cwd or '/'}", "--quiet"]

    def node_argv(
        self, node: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        setting = [f"{name}={value}" for name, value in env.items()]
        if setting:
            setting.insert(0, "env")
        if self.loader:  # a module may set the same
            setting += [*self.loader, *setting]
        name = self.nodes[self._index(node)].name
        return [*self._step([name], cwd), *setting, *argv]

    def talk_lines(
        self, nodes: Sequence[int], text: str, arguments: Sequence[str]
    ) -> Mapping[tuple[str, ...], Sequence[str]]:
        """Return the command line of one step for all nodes, because every step takes 0.3 s."""
        names = [self.nodes[node].name for node in nodes]
        argv = [*self.loader, "sh", "-c", text, "sh", "-", *arguments]
        return {tuple(names): [*self._step(names), *argv]}

    def mpi_argv(
        self, argv: Sequence[str], layout: Layout, env: Mapping[str, str], cwd: str | None = None
    ) -> list[str]:
        options = self._options
        job = Job(
            argv=argv,
            layout=layout,
            nodes=self.nodes,
            env=env,
            cwd=cwd or "/",
            transport=options.transport,
            network=self._network,
            as_root=True,
            session_folder=self.session or None,
        )
        if options.launcher == "srun":
            line = srun_argv(
                job, self.mpi, plugin=options.mpi_type, binds=self._binds, before=self.loader
            )
            return [line[0], f"--jobid={self._job.number}", "--overlap", "--quiet", *line[1:]]
        # mpirun runs here, as in a shell of salloc, and starts its daemons by srun.
        variables = self._job_variables(layout)
        variables |= {key: value for key, value in env.items() if key == TRIAL_VARIABLE}
        setting = [f"{name}={value}" for name, value in variables.items()]
        return ["env", *setting, *self.loader, *self.mpi.argv(job)]

    def _job_variables(self, layout: Layout) -> dict[str, str]:
        """Return the variables that salloc sets in the shell of a job."""
        count = str(len(self.nodes))
        names = fold(node.name for node in self.nodes)
        return {
            "SLURM_JOB_ID": self._job.number,
            "SLURM_JOBID": self._job.number,
            "SLURM_JOB_NODELIST": names,
            "SLURM_NODELIST": names,
            "SLURM_JOB_NUM_NODES": count,
            "SLURM_NNODES": count,
            "SLURM_TASKS_PER_NODE": f"{layout.ranks_per_node}(x{count})",
            "SLURM_JOB_CPUS_PER_NODE": f"{self.nodes[0].cores}(x{count})",
            "SLURM_OVERLAP": "1",
        }

    @cached_property
    def _binds(self) -> bool:
        config = commands.run_checked("scontrol", "show", "config")
        plugins = re.search(r"^TaskPlugin\s*=\s*(.*)$", config, re.MULTILINE)
        return plugins is not None and "affinity" in plugins[1]

    @property
    def _network(self) -> Network | None:
        device = self._options.device or ""
        subnet = self._options.subnet
        if not device and subnet is None:
            return None
        address = self.nodes[0].address
        return Network(device=device, subnet=subnet or device, launch_address=address)

    def clean_stderr(self, text: str) -> str:
        return commands.SRUN_ADDS.sub("", text)

    def job_exit_code(self, code: int, stderr: str) -> int:
        """Return the exit code of the rank that failed first.

        srun may return the code of ranks that it ended because of the failure.
        """
        if self._options.launcher != "srun" or code not in commands.ENDED_BY_SRUN:
            return code
        first = commands.first_ending(stderr)
        return code if first is None else first

    def launch_environment(self, mark: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment for srun, without variables of a job that contains bareline.

        SLURM_PMIX_FENCE selects the algorithm of the PMIx fence. With Slurm's default, MPI_Init of
        Open MPI 4.1 never returned in 8 of 95 launches. With ``tree``, it returned in all of 95
        launches; see docs/how-to/clusters.md.
        """
        return {"SLURM_PMIX_FENCE": "tree", **commands.outside_environment()}

    @cached_property
    def mpi(self) -> MpiInstallation:
        if self._options.has_library_here:
            return find_mpi(self._options.mpi)
        return find_remote_mpi(self, self._options.mpi)

    def work_folder(self) -> str:
        return self._options.io_folder or self._options.folder

    # Trials --------------------------------------------------------------------------------------

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        """Execute a command, and repeat it once if ranks crashed before they printed anything."""
        output = self._run_on_nodes(command, layout, timeout_s)
        why = self._why_not_up(command, output)
        if not why:
            return output
        launch = f"a launch of {layout.ranks} ranks by srun {why} and printed nothing"
        self._events.append(f"{launch}: it is repeated")
        again = self._run_on_nodes(command, layout, timeout_s)
        return replace(again, caveats=(*again.caveats, STARTUP_REPEATED))

    def _why_not_up(self, command: Command, output: Output) -> str:
        """Return the reason if a launch with srun failed before the ranks started, else ""."""
        by_srun = command.mpi and self._options.launcher == "srun"
        if not by_srun or output.stdout or output.timed_out or output.exit_code == 0:
            return ""
        if output.exit_code in (-signal.SIGSEGV, 128 + signal.SIGSEGV):
            return "crashed in its start (SIGSEGV)"
        # One of Slurm's daemons did not listen yet, or the machine was too busy.
        if "pmixp_p2p_send" in output.stderr:
            return "lost a message between Slurm's daemons in its start (PMIx)"
        return ""

    def _run_on_nodes(self, command: Command, layout: Layout, timeout_s: float) -> Output:
        """Execute a command; if a node or the allocation is lost, repeat it on new nodes."""

        def once() -> Output:
            try:
                return super(SlurmAllocation, self).run(command, layout, timeout_s=timeout_s)
            except (TimeUp, NodesLost):
                raise
            except PlatformError as error:
                if lost := self._find_lost():
                    raise lost from error
                raise

        def repaired(error: PlatformError) -> bool:
            if not isinstance(error, NodesLost) or self._job.inherited:
                return False
            self._replace(error, "the trial is repeated")
            return True

        self._see_time(timeout_s)
        return run_repaired(once, repaired)

    def explain_failure(self, stderr: str) -> None:
        if lost := self._find_lost():
            raise lost

    def _find_lost(self) -> NodesLost | None:
        """Return an error that names the lost nodes, or None if no node is lost.

        Raises TimeUp: bareline itself runs in the job that ended.
        """
        state = commands.settled_state(self._job.number)
        self._job.see_own_end(state)
        clause, hint = state.ending
        names = tuple(node.name for node in self.nodes)
        broken = [name for name in commands.broken_nodes(names) if name in names]
        missing = [name for name in names if name not in state.nodes] if state.runs else []
        if broken or missing:
            lost = sorted({*broken, *missing})
            self._excluded.update(lost)
            return NodesLost("the node failed", where=nodes_text(lost), hint=self.lost_hint)
        if state.runs:
            return None
        ended = f"the allocation {self._job.number} {clause}"
        return NodesLost(ended, where=nodes_text(names), hint=hint)

    def _see_time(self, timeout_s: float) -> None:
        """Renew the allocation if its time limit comes before the time limit of a trial.

        Raises TimeUp: the allocation is inherited, so that it cannot be renewed.
        """
        state = commands.job_state(self._job.number)
        if not state.runs:
            lost = self._find_lost()
            assert lost is not None
            self._replace(lost, ASKED_AGAIN)
            return
        needed_s = min(timeout_s + 30.0, 60.0 * self._options.time_min / 2)
        if state.left_s is None or state.left_s >= needed_s:
            return
        ends = f"allocation {self._job.number} ends in {state.left_s:.0f} s"
        if self._job.inherited:
            raise TimeUp(f"the {ends}, but a trial may take {timeout_s:.0f} s")
        self._events.append(f"{ends}: {ASKED_AGAIN}")
        self._renew()

    def _replace(self, lost: NodesLost, then: str) -> None:
        """Replace the lost nodes by other nodes.

        Raises NodesLost: there are no other nodes.
        """
        self._events.append(f"{lost}; {then}")
        try:
            self._renew(orderly=False)
        except PlatformError as error:
            raise NodesLost(
                f"{lost.what}, and Slurm gives no other nodes: {error.what}",
                where=lost.where,
                hint="`bareline continue --retry-failed` goes on when the nodes are back",
            ) from error

    def _renew(self, *, orderly: bool = True) -> None:
        self._job.end(orderly=orderly)
        state = self._job.begin(self._wanted, sorted(self._excluded))
        waited = f"after {self._job.waited_s:.1f} s in the queue"
        self._events.append(f"allocation {self._job.number} {waited}")
        self._use(state)

    def close(self) -> None:
        """Remove the files that were copied to the nodes."""
        if self._native.copied:
            env = commands.outside_environment()
            remove = ["rm", "-rf", "--", self._native.target]
            line = [*self._step(sorted(self._native.copied)), *remove]
            run_process(line, env=env, timeout_s=60.0)

    def facts(self) -> Mapping[str, Scalar]:
        facts = dict(super().facts())
        options = self._options
        if "mpi.flavour" in facts:
            facts["mpi.transport"] = options.transport
        topology = read_topology(commands.ask("scontrol", "show", "topology").stdout)
        excluded = (*options.excluded, *self._excluded)
        names = [node.name for node in self.nodes]
        cluster = cluster_facts(names, options.switches or topology, excluded)
        too_many = scattered(cluster, options.switch_count)
        if too_many:
            self._events.append(too_many)
        return {
            **facts,
            **cluster,
            "slurm.job": self._job.number,
            "slurm.queue_wait_s": round(self._job.waited_s, 3),
            "slurm.launcher": self._options.launcher,
        }
