"""A trace of a real program, replayed by the simulator: what it does, and what it costs."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bareline.host.cache import cache_folder
from bareline.platforms.base import Context
from bareline.platforms.config import load_platforms, make_spec
from bareline.platforms.sim import PLATFORM
from bareline.platforms.sim.replay import actions, why_not
from bareline.profile.records import ANYBODY, NOBODY, Shape
from bareline.profile.trace import CallStream, Trace, read_trace
from bareline.study.reading import load_study
from bareline.testing.messages import raises
from bareline.vocabulary.errors import PlatformError, StudyError
from bareline.vocabulary.model import Command, Layout
from bareline.vocabulary.platform import REPLAY

needs_simulator = pytest.mark.skipif(shutil.which("smpirun") is None, reason="no SimGrid")
LATENCY, RATE = 20e-6, 1e9
STEPS = 20
PROGRAM = """
#include <mpi.h>
int main(int c, char **v)
{
    static double a[4096], b[4096], s = 1, t;
    int r, n;
    MPI_Init(&c, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    for (int i = 0; i < %d; i++) {
        MPI_Request q[2];
        MPI_Irecv(b, 4096, MPI_DOUBLE, (r + n - 1) %% n, 3, MPI_COMM_WORLD, &q[0]);
        MPI_Isend(a, 4096, MPI_DOUBLE, (r + 1) %% n, 3, MPI_COMM_WORLD, &q[1]);
        MPI_Waitall(2, q, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(a, 8, MPI_DOUBLE, (r + 1) %% n, 5, b, 8, MPI_DOUBLE, (r + n - 1) %% n, 5,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
"""
# Rank 0 takes a message of each other rank as it comes, and waits in vain for one more.
ANYBODYS = """
#include <mpi.h>
int main(int c, char **v)
{
    static double a[64], b[9][64];
    int r, n;
    MPI_Request q[9];
    MPI_Comm all;
    MPI_Init(&c, &v);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(all, &r);
    MPI_Comm_size(all, &n);
    if (r)
        MPI_Send(a, 64, MPI_DOUBLE, 0, 10 + r, all);
    for (int i = 0; i < n && !r; i++)
        MPI_Irecv(b[i], 64, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, all, &q[i]);
    MPI_Comm_free(&all);
    if (!r) {
        MPI_Waitall(n - 1, q, MPI_STATUSES_IGNORE);
        MPI_Cancel(&q[n - 1]);
        MPI_Wait(&q[n - 1], MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
"""


def shape(call, kind, **given):
    values = {
        "posts": False, "to": NOBODY, "from_": NOBODY, "root": NOBODY, "send_tag": 0,
        "receive_tag": 0, "comm": 7, "comm_size": 2, "size": 0, "sent": 0, "received": 0,
    }  # fmt: skip
    return Shape(call, kind, **{**values, **given})


def trace(*ranks):
    streams = []
    for rank, calls in enumerate(ranks):
        shapes = list(dict.fromkeys(one for one, _ in calls))
        streams.append(
            CallStream(
                rank=rank,
                shapes=tuple(shapes),
                shape=np.array([shapes.index(one) for one, _ in calls], np.int32),
                compute_s=np.array([before for _, before in calls]),
                spent_s=np.zeros(len(calls)),
                finished=True,
                lost=0,
            )
        )
    return Trace(Path("planted.trace"), len(ranks), 1, "planted", tuple(streams))


SEND = shape("MPI_Send", "send", to=1, size=80)
RECEIVE = shape("MPI_Recv", "receive", from_=0, size=80)


def test_requests_are_waited_for_by_the_call_that_completes_them():
    posts = replace(RECEIVE, call="MPI_Irecv", posts=True)
    calls = [
        (posts, 2e-3),
        (replace(posts, receive_tag=4), 0.0),
        (shape("done", "done", to=1), 0.0),
        (shape("MPI_Wait", "wait"), 1e-3),
        (shape("done", "done", to=0), 0.0),
        (shape("MPI_Wait", "wait"), 0.0),
    ]
    planted = trace([(SEND, 0.0), (replace(SEND, send_tag=4), 0.0)], calls)
    lines = dict(actions(planted, 2.0))[1]
    tags = [line.split()[3] for line in lines if "irecv" in line]
    assert len(set(tags)) == 2
    assert lines[1:] == [
        "1 compute 4000000",
        f"1 irecv 0 {tags[0]} 80 6",
        f"1 irecv 0 {tags[1]} 80 6",
        "1 compute 2000000",
        f"1 wait 0 1 {tags[0]}",
        f"1 wait 0 1 {tags[1]}",
        "1 finalize",
    ]


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (replace(RECEIVE, from_=ANYBODY), "does not say whose message it got; trace the program"),
        (replace(RECEIVE, receive_tag=-1), "does not say whose message it got"),
        (replace(RECEIVE, from_=ANYBODY, posts=True), "does not say whose message it got"),
        (replace(SEND, to=ANYBODY), "not one of the traced ranks"),
        (shape("MPI_Put", "one-sided", to=1, size=8), "one-sided"),
        (shape("MPI_Allreduce", "collective", comm_size=2, size=8), "of 2 of 3 ranks"),
        (shape("MPI_Neighbor_alltoall", "collective", comm_size=3, size=8), "no such action"),
    ],
)
def test_what_the_simulator_cannot_replay_is_refused_with_its_reason(odd, said):
    planted = trace([(odd, 0.0)], [], [])
    assert said in why_not(planted)
    with raises(PlatformError, "BL-PLATFORMS-515"):
        list(actions(planted, 1.0))


def test_a_receive_from_anybody_gets_what_it_got(tmp_path):
    asks = replace(RECEIVE, call="MPI_Irecv", posts=True, from_=ANYBODY, receive_tag=-1)
    done = shape("done", "done", to=1, from_=2, receive_tag=4, root=1)
    calls = [
        (asks, 0.0),
        (asks, 0.0),
        (done, 0.0),
        (replace(done, to=0, from_=0), 0.0),
        (shape("MPI_Waitall", "wait"), 0.0),
        (asks, 0.0),
        (replace(done, to=0, from_=NOBODY), 0.0),
        (shape("MPI_Wait", "wait"), 0.0),
    ]
    sends = replace(SEND, send_tag=4)
    planted = trace([(sends, 0.0)], calls, [(sends, 0.0)])
    assert why_not(planted) == ""
    tag = next(line.split()[3] for line in dict(actions(planted, 1.0))[0] if "send" in line)
    assert dict(actions(planted, 1.0))[1] == [
        "1 init",
        f"1 irecv 2 {tag} 80 6",
        f"1 irecv 0 {tag} 80 6",
        f"1 wait 2 1 {tag}",
        f"1 wait 0 1 {tag}",
        "1 finalize",  # what was cancelled never was
    ]


def test_other_platforms_refuse_a_trace():
    command = Command(argv=(REPLAY, "app.trace"), mpi=True)
    specs = load_platforms()
    assert "only simulated platforms" in specs["bare"].options.refuses(command)
    assert specs["sim-ib"].options.refuses(command) == ""


def test_a_study_names_a_trace_beside_it(tmp_path):
    text = '[study]\nname = "mine"\n[app.x]\ntrace = "x.trace"\n%s\n[[measure]]\nprobe = "app.x"\n'
    file = tmp_path / "mine.toml"
    file.write_text(text % "")
    with raises(StudyError, "BL-STUDY-266"):
        load_study(file)
    (tmp_path / "x.trace").write_text("")
    probe = load_study(file).find_probe("app.x")
    command = probe.command(probe.make_params({}), Layout(1, 4))
    assert command.argv == (REPLAY, str(tmp_path / "x.trace"))
    file.write_text(text % 'command = ["x"]')
    with raises(StudyError, "BL-PROBES-948"):
        load_study(file)


def traced(folder, source):
    """Give the trace of a real program on four ranks."""
    (folder / "job.c").write_text(source)
    subprocess.run(["mpicc", "-O1", "job.c", "-o", "job"], cwd=folder, check=True)
    profiler = [sys.executable, "-m", "bareline", "profile", "--trace", "-o", "app.profile", "--"]
    subprocess.run(
        [*profiler, "mpirun", "--oversubscribe", "-np", "4", "./job"],
        cwd=folder,
        check=True,
        capture_output=True,
        env=os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
    )
    return folder / "app.trace"


@pytest.fixture(scope="module")
def ring(tmp_path_factory):
    return traced(tmp_path_factory.mktemp("ring"), PROGRAM % STEPS)


@pytest.mark.mpi
@pytest.mark.sim
@needs_simulator
def test_a_real_program_s_messages_are_all_replayed(ring):
    for rank, lines in actions(read_trace(ring), 1.0):
        said = Counter(line.split()[1] for line in lines)
        assert (said["isend"], said["irecv"], said["wait"]) == (2 * STEPS, 2 * STEPS, 4 * STEPS)
        assert said["allreduce"] == STEPS and lines[-1] == f"{rank} finalize"


@pytest.mark.mpi
@pytest.mark.sim
@needs_simulator
def test_a_real_program_s_receives_from_anybody_are_replayed(tmp_path):
    file = traced(tmp_path, ANYBODYS)
    found = {rank: [line.split() for line in lines] for rank, lines in actions(read_trace(file), 1)}
    received = [(line[2], line[3]) for line in found[0] if line[1] == "irecv"]
    sent = {(str(rank), line[3]) for rank in (1, 2, 3) for line in found[rank] if line[1] == "send"}
    assert len(received) == 3 and set(received) == sent
    table = {"type": "sim", "nodes": 4, "network": "10g"}
    context = Context(tmp_path, cache_folder())
    with PLATFORM(make_spec("s", table, where="test"), context).acquire(Layout(4)) as allocation:
        command = Command(argv=(REPLAY, str(file)), mpi=True)
        output = allocation.run(command, Layout(4), timeout_s=60)
    assert output.exit_code == 0, output.stderr


@pytest.mark.mpi
@pytest.mark.sim
@needs_simulator
def test_the_replay_takes_what_its_messages_cost(ring, tmp_path):
    """Without computation: an exchange of 32 KiB, one of 64 B, and two steps of a reduction."""
    table = {
        "type": "sim",
        "nodes": 4,
        "curve": [[0, LATENCY], [1 << 20, LATENCY + (1 << 20) / RATE]],
        "compute_factor": 1e-6,
    }
    context = Context(tmp_path, cache_folder())
    with PLATFORM(make_spec("s", table, where="test"), context).acquire(Layout(4)) as allocation:
        command = Command(argv=(REPLAY, str(ring)), mpi=True)
        output = allocation.run(command, Layout(4), timeout_s=60)
        with raises(PlatformError, "BL-PLATFORMS-261", "4", "2"):
            allocation.run(command, Layout(2), timeout_s=60)
    assert output.exit_code == 0 and output.clock == "simulated", output.stderr
    step = (LATENCY + 32768 / RATE) + (LATENCY + 64 / RATE) + 2 * (LATENCY + 8 / RATE)
    assert json.loads(output.stdout)["time_s"] == pytest.approx(STEPS * step, rel=0.02)


@pytest.mark.mpi
@pytest.mark.sim
@needs_simulator
def test_the_replay_takes_what_was_computed(ring, tmp_path):
    """SMPI leaves the computing of a replay out where it is told to simulate none."""
    trace = read_trace(ring)
    computed = max(float(stream.compute_s.sum()) for stream in trace.streams)
    times = []
    for factor in (1.0, 1 + 10.0 / computed):
        table = {"type": "sim", "nodes": 4, "network": "10g", "compute_factor": factor}
        context = Context(tmp_path, cache_folder())
        with PLATFORM(make_spec("s", table, where="test"), context).acquire(Layout(4)) as there:
            times.append(there.replayed_s(trace, Layout(4), timeout_s=60))
    assert 10 * 0.98 <= times[1] - times[0] <= 10 * 4.02
