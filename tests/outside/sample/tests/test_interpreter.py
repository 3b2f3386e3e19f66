"""The probe against bareline's contract."""

from pathlib import Path

from bareline_outside.interpreter import PROBE

from bareline.testing.probes import ProbeContract


class TestInterpreter(ProbeContract):
    probe = PROBE
    captured = Path(__file__).with_name("interpreter.out")
