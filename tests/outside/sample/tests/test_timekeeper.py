"""The cause against bareline's contract."""

from typing import ClassVar

from bareline_outside.timekeeper import RULE

from bareline.testing.causes import CauseContract, MadeLoss


class TestTimekeeper(CauseContract):
    rule = RULE
    loss = MadeLoss(probe="mpi.pingpong", ratio=1.4, nodes=2, point="size_bytes=64")
    facts: ClassVar = {"clock.source": "hpet"}
    baseline_facts: ClassVar = {"clock.source": "tsc"}
