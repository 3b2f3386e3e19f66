"""Traces that were made, and not taken, replayed on simulated platforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from bareline.host.cache import scratch_folder
from bareline.platforms.base import Context
from bareline.platforms.config import choose_platforms
from bareline.platforms.sim.options import SimOptions
from bareline.platforms.sim.platform import SimAllocation, SimPlatform
from bareline.profile.trace import Trace
from bareline.vocabulary.errors import PlatformError, UsageError
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec

_TIMEOUT_S = 1800.0


@contextmanager
def simulated(
    name: str, path: Path | None, per_node: int | None
) -> Iterator[Callable[[Trace], float]]:
    """Give what replays traces on a simulated platform.

    - `per_node`: ranks of a node at most; None: one for each core.
    Raises PlatformError: it does not exist, or is too small.
    Raises UsageError: it is no simulated one.
    """
    (spec,) = choose_platforms([name], path)
    options = spec.options
    if not isinstance(options, SimOptions):
        raise UsageError(
            f"'{name}' is not simulated: more ranks are replayed on platforms of type sim",
            hint="`bareline platforms` lists them; `bareline calibrate` makes one from a run",
        )
    most = per_node or options.cores
    with scratch_folder("growing") as scratch:
        platform = SimPlatform(cast(PlatformSpec[SimOptions], spec), Context(scratch))

        def run(trace: Trace) -> float:
            each = max(n for n in range(1, min(most, trace.ranks) + 1) if trace.ranks % n == 0)
            layout = Layout(trace.ranks // each, each)
            if layout.nodes > options.nodes:
                raise PlatformError(
                    f"{trace.ranks} ranks, {each} a node, need {layout.nodes} nodes, it has "
                    f"{options.nodes}",
                    where=name,
                    hint="give it more nodes or cores in a platform file, or a larger --per-node",
                )
            assert isinstance(here, SimAllocation)
            return here.replayed_s(trace, layout, timeout_s=_TIMEOUT_S)

        with platform.acquire(Layout(1)) as here:
            yield run
