"""A Slurm allocation that bareline requests and releases, or that it inherits."""

from __future__ import annotations

import contextlib
import logging
import re
import subprocess
import time
from collections import Counter
from collections.abc import Sequence

from bareline.host.owner import has_ended, owner_mark
from bareline.platforms.hosts.process import Finished, run_process
from bareline.platforms.hosts.workdir import session_folder
from bareline.platforms.reached.slurm import commands
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.vocabulary.errors import NotNow, PlatformError, TimeUp
from bareline.vocabulary.nodeset import fold
from bareline.vocabulary.units import count

_NAME = "bareline-"
#: Wait for a word, or for the end of the input, which is the end of bareline; then release the
#: allocation. If bareline was killed or a node was lost, the steps have not removed their files. A
#: step on all $2 nodes, or a step on each remaining node, therefore first removes the files that
#: match the patterns $3...
_HOLD = """\
if ! read -r _; then
    job=$1 nodes=$2
    shift 2
    remove() {
        count=$1
        shift
        timeout 10 srun --jobid="$job" --overlap --mpi=none --nodes="$count" --ntasks="$count" \\
            --ntasks-per-node=1 --chdir=/ "$@"
    }
    if ! remove "$nodes" sh -c 'rm -rf -- $*' sh "$@"; then
        for node in $(scontrol show hostnames "$(squeue -hj "$job" -o %N)"); do
            remove 1 --nodelist="$node" sh -c 'rm -rf -- $*' sh "$@" &
        done
        wait
    fi
    set -- "$job"
fi
exec scancel "$1"
"""

_LOG = logging.getLogger(__name__)
#: Pause between two checks of the queue, which grows from the first value to the second.
_LOOK_S = 1.0
_LONGEST_LOOK_S = 30.0
#: Slurm ends the processes of an ended job within this time; KillWait is 30 s by default.
_KILLED_WITHIN_S = 60.0
#: salloc's lines about a granted allocation, and about a waiting one.
_GRANTED = re.compile(r"Granted job allocation (\d+)")
_PENDING = re.compile(r"(?:Pending job allocation|job) (\d+)(?: queued)?")

#: Parts of salloc's errors after which another try may succeed.
_TEMPORARY = ("Unable to contact", "Socket timed out", "revoked")
#: How many allocations this process has asked for, by the platform's name.
_ASKED: Counter[str] = Counter()


class _Queue:
    """A periodic check of a waiting job, which reports each new `reason` that Slurm gives."""

    def __init__(self, job: str) -> None:
        self._job = job
        self._pause_s = _LOOK_S
        self._next = time.monotonic() + _LOOK_S
        self.reason = ""
        self.is_hopeless = False

    def look(self) -> bool:
        """Return whether the job can never start.

        This is true if Slurm gave the same hopeless reason twice in sequence.
        """
        if time.monotonic() < self._next:
            return self.is_hopeless
        before = self.reason
        reason = commands.waiting(self._job)
        if reason and reason != before:
            _LOG.warning("the allocation waits in the queue: %s", reason)
            self.reason = reason
            self._pause_s = _LOOK_S
        self.is_hopeless = reason == before and bool(commands.NEVER.fullmatch(reason))
        self._next = time.monotonic() + self._pause_s
        self._pause_s = min(2 * self._pause_s, _LONGEST_LOOK_S)
        return self.is_hopeless


class SlurmJob:
    """A Slurm allocation in use.

    - `name`: the platform's name; the limit `max_jobs` counts the jobs of each name.
    """

    def __init__(self, options: SlurmOptions, name: str = "") -> None:
        self._options = options
        self._name = name
        self._holder: subprocess.Popen[bytes] | None = None
        self.number = ""
        self.waited_s = 0.0

    @property
    def inherited(self) -> bool:
        """Whether the allocation was inherited, so that bareline must not release it."""
        return self._options.allocation == "inherit"

    def begin(self, nodes: int, excluded: Sequence[str] = ()) -> commands.JobState:
        """Get an allocation of nodes, and return its state."""
        if self.inherited:
            self.number = commands.own_job()
        else:
            self._allocate(nodes, excluded)
        state = commands.job_state(self.number)
        self.see_own_end(state)
        if not state.runs or len(state.nodes) < nodes:
            self.end()
            raise PlatformError(
                f"the allocation {self.number} is {state.state} with {len(state.nodes)} of {nodes} "
                f"nodes: {state.reason}"
            )
        return state

    def _allocate(self, nodes: int, excluded: Sequence[str]) -> None:
        most = self._options.max_jobs
        if most is not None and _ASKED[self._name] >= most:
            raise PlatformError(
                f"bareline already requested {count(most, 'allocation')}, and `max_jobs`"
                " allows no more",
                hint="raise `max_jobs`, or run `bareline continue --retry-failed`, which requests "
                "again",
            )
        _ASKED[self._name] += 1
        left_out = fold(dict.fromkeys((*self._options.excluded, *excluded)))
        options = self._options.model_copy(update={"nodes": nodes, "exclude": left_out})
        # --no-kill: a node that dies is found here; the other nodes go on.
        name = f"{_NAME}{owner_mark()}"
        words = [*options.request(), "--no-shell", "--no-kill", f"--job-name={name}"]
        queue = _Queue(name)
        env = commands.outside_environment()
        started = time.monotonic()
        salloc = ["salloc", *words]
        ended = run_process(salloc, env=env, timeout_s=options.queue_s, lost=queue.look)
        self.waited_s = time.monotonic() - started
        granted = _GRANTED.search(ended.stderr)
        if granted is None:
            pending = _PENDING.search(ended.stderr)
            if pending is not None:
                commands.ask("scancel", pending[1])
            raise _refusal(ended, queue, options.queue_s)
        self.number = granted[1]
        self._holder = subprocess.Popen(
            ["sh", "-c", _HOLD, "hold", self.number, str(nodes), *self._file_patterns()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=env,
            start_new_session=True,
        )

    def _file_patterns(self) -> list[str]:
        """Return glob patterns for the files that this bareline process makes on nodes."""
        options = self._options
        mark = owner_mark()
        folders = dict.fromkeys((options.folder, options.io_folder or options.folder))
        patterns = [f"{folder}/bareline-*{mark}*" for folder in folders]
        patterns.append(session_folder(f"{mark}*"))
        return patterns

    def see_own_end(self, state: commands.JobState) -> None:
        """Wait for the end of the job that contains this process.

        Raises TimeUp: the job does not end in time.
        """
        if self.inherited and not state.runs:
            # If the job was requeued, Slurm ends this process and starts it again. Without the
            # wait, all remaining trials would fail before that.
            time.sleep(_KILLED_WITHIN_S)
            clause, hint = state.ending
            raise TimeUp(f"the allocation {self.number} {clause}", hint=hint)

    def end(self, *, orderly: bool = True) -> None:
        """Release the nodes; idempotent.

        - `orderly`: whether every step has ended and removed its files.
        """
        holder = self._holder
        self._holder = None
        if holder is None:
            return
        assert holder.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            if orderly:
                holder.stdin.write(b"ended\n")
            holder.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            holder.wait(20.0)


def _refusal(ended: Finished, queue: _Queue, queue_s: float) -> PlatformError:
    """Return the error for an salloc that got no allocation; `NotNow` if a retry may succeed."""
    if queue.is_hopeless:
        return PlatformError(
            f"Slurm never starts this request: {queue.reason}",
            hint="see `scontrol show partition`, and ask for less time, fewer nodes or another "
            "partition",
        )
    if ended.timed_out:
        reason = f" ({queue.reason})" if queue.reason else ""
        text = f"no nodes after {queue_s:.0f} s in the queue{reason}"
    else:
        complaint = commands.last_line(ended.stderr).removeprefix("salloc: error: ")
        text = f"Slurm gives no allocation: {complaint}"
    is_temporary = any(words in ended.stderr for words in _TEMPORARY)
    kind = NotNow if ended.timed_out or is_temporary else PlatformError
    return kind(text, hint="see `sinfo` and `squeue --me`")


def clean() -> list[str]:
    """Release the allocations of killed bareline processes of this machine.

    Return a line for each allocation.
    """
    removed: list[str] = []
    with contextlib.suppress(PlatformError):
        jobs = ("squeue", "--me", "--states=R,PD", "--noheader", "--Format=JobID:20,Name:80")
        for line in commands.ask(*jobs, timeout_s=10.0).stdout.splitlines():
            number = line[:20].strip()
            name = line[20:].strip()
            if name.startswith(_NAME) and has_ended(name.removeprefix(_NAME)):
                commands.ask("scancel", number)
                removed.append(f"Slurm allocation {number} given back")
    return removed
