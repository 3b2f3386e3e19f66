"""The null platform: times from known distributions, with a known slowdown, for tests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from bareline.platforms.base import Allocation, Platform
from bareline.platforms.hosts.process import Finished
from bareline.vocabulary.errors import PlatformError
from bareline.vocabulary.model import TRIAL_VARIABLE, Command, Layout, Output, Scalar
from bareline.vocabulary.platform import Options


class NullOptions(Options):
    """Options of a null platform, whose times are drawn from a known distribution.

    - `factor`: number by which every drawn time is multiplied; 2 makes the platform twice as
      slow.
    - `seed`: seed of the random times.
    - `nodes`: number of simulated nodes.
    - `fail_every`: a number k: every k-th trial fails; with 0, no trial fails.
    - `pause_s`: real time that a trial takes.
    - `boot_spread`: relative spread of a second factor, which all trials of the platform share. It
      models a boot that makes a whole run slower or faster. The factor depends on the platform's
      name and seed only.
    """

    pins: ClassVar[bool] = True  # planted values do not depend on the places of ranks

    factor: Annotated[float, Field(gt=0)] = 1.0
    seed: int = 0
    nodes: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    fail_every: Annotated[int, Field(ge=0)] = 0
    pause_s: Annotated[float, Field(ge=0)] = 0.0
    boot_spread: Annotated[float, Field(ge=0, le=1)] = 0.0

    @property
    def node_count(self) -> int:
        return self.nodes


def draw(shape: str, spread: float, generator: np.random.Generator, n: int) -> Any:
    """Draw `n` factors with median 1 from the distribution named `shape`."""
    if shape == "constant" or spread == 0:
        return np.ones(n)
    if shape == "normal":
        return np.maximum(1 + spread * generator.standard_normal(n), 1e-3)
    if shape == "heavy":
        return np.exp(spread * generator.standard_t(2, n))
    if shape == "bimodal":
        return np.exp(spread * (generator.choice([-1.0, 1.0], n) + generator.normal(0, 0.2, n)))
    return np.exp(spread * generator.standard_normal(n))


class NullAllocation(Allocation):
    """Simulated nodes, which answer each command of the null probe with randomly drawn times."""

    def __init__(self, options: NullOptions, name: str) -> None:
        self._options = options
        self._name = name
        spread = options.boot_spread
        self._boot = float(draw("lognormal", spread, self._generator("boot"), 1)[0])

    def _generator(self, purpose: object) -> np.random.Generator:
        """Return the random generator for a purpose: a trial's number, or a name such as "boot"."""
        key = f"{self._name}:{self._options.seed}:{purpose}"
        digest = hashlib.sha256(key.encode()).digest()
        return np.random.default_rng(int.from_bytes(digest[:8], "big"))

    def facts(self) -> Mapping[str, Scalar]:
        return {"planted.factor": self._options.factor, "planted.seed": self._options.seed}

    def helpers_s(self) -> float | None:
        return None

    def run(self, command: Command, layout: Layout, *, timeout_s: float) -> Output:
        if command.argv[0] != "null":
            raise PlatformError(
                f"a null platform cannot run '{command.argv[0]}'",
                hint="use it with the null probe only",
            )
        if self._options.pause_s:
            import time

            time.sleep(min(self._options.pause_s, timeout_s))
            if self._options.pause_s > timeout_s:
                return Finished("", "", -9, timeout_s, True).output(command.argv)
        plan = json.loads(command.argv[1])
        token = dict(command.env).get(TRIAL_VARIABLE, "0")
        index = int(token.rpartition("-")[2])
        interval = self._options.fail_every
        if interval and index % interval == interval - 1:
            return Finished("", "planted failure\n", 1, 0.0, False).output(command.argv)
        # Seeded by the trial, so that a continued run draws the same values.
        factors = draw(plan["shape"], plan["spread"], self._generator(index), plan["points"])
        scale = plan["median_s"] * self._options.factor * (1 + plan["drift"] * index) * self._boot
        times = [float(value) for value in factors * scale]
        return Finished(json.dumps(times), "", 0, 0.0, False).output(command.argv)


class NullPlatform(Platform[NullOptions]):
    """The platform type whose times come from known distributions, for tests of bareline."""

    type_name = "null"
    summary = "planted distributions, to test bareline itself"
    options = NullOptions

    @contextmanager
    def acquire(self, layout: Layout) -> Iterator[Allocation]:
        yield NullAllocation(self.spec.options, self.spec.name)


PLATFORM = NullPlatform
