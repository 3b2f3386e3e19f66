"""A replay of a trace on the curves of a platform: one rank after the other, in time.

The rank that is earliest runs its next call. Between calls it computes, for the traced time, on a
core that it may have to share; messages and collectives take what the ladder says.

- A short message is *eager*: the sender goes on after its own share of it, the message arrives
  when the link has carried it, and the receiver takes it when it comes to ask.
- A long one is a *rendezvous*: it starts when sender and receiver both stand in MPI calls (through
  shared memory, when the receiver does: it fetches the message by itself), and nothing moves while
  they compute.
- A link carries one message after the other.
- A collective ends for all when the last rank came, plus its measured time; a broadcast waits for
  its root only, and in a reduction the root alone waits.

Polls that found nothing are left out: they are waiting, and the replay waits by itself.
"""

from __future__ import annotations

import numpy as np

from bareline.predict import compiled, stepping
from bareline.predict.calls import Replayed
from bareline.predict.costs import Costs
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import AnalysisError


def why_not_replayable(trace: Trace) -> str:
    """Say what keeps a trace from being replayed; empty if nothing does."""
    if trace.why_partial:
        return trace.why_partial
    odd = {"one-sided", "one-sided-sync"}
    for stream in trace.streams:
        spent = np.array([shape.kind in odd for shape in stream.shapes])[stream.shape]
        total = float((stream.compute_s + stream.spent_s).sum()) or 1.0
        if float(stream.spent_s[spent].sum()) > 0.02 * total:
            return "one-sided communication is not replayed"
        if any(shape.call in ("MPI_Mrecv", "MPI_Imrecv") for shape in stream.shapes):
            return "matched probes (MPI_Mprobe) are not replayed"
    return ""


def replay(trace: Trace, costs: Costs) -> Replayed:
    """Run a trace on the curves of a platform.

    Raises AnalysisError: the ranks come to wait for each other for ever: the trace lacks something.
    """
    steps = compiled.stepper(trace)
    found = (
        stepping.step_through(trace, costs)
        if steps is None
        else compiled.step_through(steps, trace, costs)
    )
    if found is None:
        raise AnalysisError(
            "the replay of the trace comes to a stop: ranks wait for what no rank does",
            hint="trace the program again; if it stays, use --model delta",
        )
    return found
