"""A probe: turns of an empty loop per second in Python."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Command, Layer, Layout, Metric, Output, Sample

_PROGRAM = """
import json, sys, time
turns = int(sys.argv[1])
begin = time.perf_counter()
for _ in range(turns):
    pass
print(json.dumps({"turns": turns, "seconds": time.perf_counter() - begin}))
"""


@dataclass(frozen=True, slots=True)
class Params:
    """Parameters: the number of turns."""

    turns: Annotated[int, Field(ge=1)] = 1_000_000


class Interpreter(Probe[Params]):
    """Turns of an empty loop."""

    name = "compute.interpreter"
    layer = Layer.COMPUTE
    title = "the speed of Python"
    summary = "turns of an empty loop per second in Python"
    params = Params
    metrics: ClassVar = {"rate": Metric("op/s", "higher")}

    def command(self, params: Params, layout: Layout) -> Command:
        """Run Python."""
        argv = ("python3", "-c", _PROGRAM, str(params.turns))
        return Command(argv=argv, requires=("python3",))

    def parse(self, params: Params, output: Output) -> ProbeReading:
        """Read one JSON object: an output that was cut is not one, and is refused."""
        try:
            printed = json.loads(output.stdout)
            turns = printed["turns"]
            rate = turns / printed["seconds"]
        except (ValueError, TypeError, LookupError, ZeroDivisionError) as error:
            raise ParseError(f"no turns and seconds: {error}") from error
        if turns != params.turns:
            raise ParseError(f"{turns} turns instead of {params.turns}")
        return ProbeReading((Sample("rate", rate),))


PROBE = Interpreter()
