"""The contract of every probe."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bareline.probes.base import Probe, ProbeReading
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layout, Output

_GARBAGE = ["", "\n", "\x00\x01", "Segmentation fault\n", "{}\n", "[]\n", "null\n", "1\n2\n"]


class ProbeContract:
    """Tests of a probe against a captured output of its program.

    - `captured`: the output of a successful program with the probe's defaults.
    - `result_file`: name of the file with the results, if the program does not print them.
    """

    probe: Probe[Any]
    captured: Path
    result_file = ""

    def output(self, text: str) -> Output:
        """Return an output of the program with this text."""
        files = {self.result_file: text} if self.result_file else {}
        stdout = "" if self.result_file else text
        return Output(stdout=stdout, stderr="", exit_code=0, duration_s=1.0, files=files)

    def read(self, text: str) -> ProbeReading:
        """Return the result of the probe's parser for a text, with default parameters."""
        return self.probe.read(self.probe.make_params({}), self.output(text))

    def test_the_good_output_gives_every_declared_metric(self) -> None:
        reading = self.read(self.captured.read_text(encoding="utf-8"))
        promised = self.probe.delivers(self.probe.make_params({}))
        assert set(promised) <= {sample.metric for sample in reading.samples}

    def test_a_truncated_output_is_refused_wherever_it_ends(self) -> None:
        text = self.captured.read_text(encoding="utf-8").rstrip()
        lines = text.splitlines()
        ends = {0, 1, len(text) // 3, len(text) - 1} | {len("\n".join(lines[:k])) for k in (1, -1)}
        for end in ends - {len(text)}:
            with pytest.raises(ParseError):
                self.read(text[:end])

    @pytest.mark.parametrize("text", _GARBAGE)
    def test_garbage_is_refused(self, text: str) -> None:
        with pytest.raises(ParseError):
            self.read(text)

    def test_the_command_is_an_argument_vector(self) -> None:
        layout = Layout(2, max(1, self.probe.min_ranks // 2), 1)
        command = self.probe.command(self.probe.make_params({}), layout)
        assert command.argv
        assert all(isinstance(part, str) for part in command.argv)
        # bareline's own programs are found by the platform; foreign ones must be named as required.
        if not command.argv[0].startswith("{native}/"):
            assert command.argv[0] in command.requires

    def test_every_parameter_has_a_default(self) -> None:
        assert self.probe.make_params(self.probe.defaults()) == self.probe.make_params({})

    def test_it_says_what_it_is(self) -> None:
        assert self.probe.name and self.probe.title and self.probe.summary
        assert self.probe.headline in self.probe.metrics
