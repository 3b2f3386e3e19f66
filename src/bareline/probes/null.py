"""The null probe: random values of a known distribution instead of measurements.

The probe tests runner, statistics and comparison end to end, because the true values are known.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

Shape = Literal["constant", "normal", "lognormal", "heavy", "bimodal"]


@dataclass(frozen=True, slots=True)
class NullParams:
    """Parameters of the distribution from which the times are drawn.

    - `median_s`: median of the times.
    - `spread`: relative spread; 0 gives a constant.
    - `shape`: family of the distribution.
    - `points`: number of points in a trial, each with the same distribution.
    - `drift`: relative growth of the times from trial to trial, as on a machine that warms up.
    """

    median_s: Annotated[float, Field(gt=0)] = 1e-3
    spread: Annotated[float, Field(ge=0, le=1)] = 0.02
    shape: Shape = "lognormal"
    points: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    drift: Annotated[float, Field(ge=0, le=1)] = 0.0


class NullProbe(Probe[NullParams]):
    """The probe of times from a known distribution; only the null platform can run it."""

    name: ClassVar[str] = "null"
    layer: ClassVar[Layer] = Layer.APP
    title: ClassVar[str] = "the planted time"
    summary: ClassVar[str] = "planted distributions, to test bareline itself"
    params = NullParams
    metrics: ClassVar = {"time": Metric("s", "lower")}

    def command(self, params: NullParams, layout: Layout) -> Command:
        return Command(argv=("null", json.dumps(asdict(params))))

    def parse(self, params: NullParams, output: Output) -> ProbeReading:
        try:
            times_s = [float(time_s) for time_s in json.loads(output.stdout)]
        except (ValueError, TypeError) as error:
            raise ParseError(
                f"the output of the null probe is not a list of times: {error}"
            ) from error
        if len(times_s) != params.points:
            raise ParseError(f"the output has {len(times_s)} points instead of {params.points}")
        if len(times_s) == 1:
            return ProbeReading((Sample("time", times_s[0]),))
        return ProbeReading(
            tuple(Sample("time", time_s, {"point": i}) for i, time_s in enumerate(times_s))
        )


PROBE = NullProbe()
