"""The contract of every importer."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest

from bareline.formats.importer import Importer, load_importers
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Measured


class ImporterContract:
    """Tests of an importer with the output `captured`, in which every trial has succeeded."""

    importer: Importer
    captured: Path

    def test_it_alone_knows_its_output(self) -> None:
        text = self.captured.read_text(encoding="utf-8")
        able = {name for name, importer in load_importers().items() if importer.sniff(text)}
        assert able == {self.importer.name}

    def test_every_trial_of_the_good_output_is_measured(self) -> None:
        launches = self.importer.launches(self.captured.read_text(encoding="utf-8"))
        trials = [trial for launch in launches for trial in self.importer.parse(launch)]
        assert trials
        for trial in trials:
            assert isinstance(trial.outcome, Measured), trial.outcome
            assert trial.probe.partition(".")[0] == self.importer.name

    def test_launches_lose_nothing_of_the_text(self) -> None:
        text = self.captured.read_text(encoding="utf-8")
        assert _words(text) <= set().union(*map(_words, self.importer.launches(text)))

    def test_a_launch_stands_alone(self) -> None:
        text = self.captured.read_text(encoding="utf-8")
        for launch in self.importer.launches(text):
            assert tuple(self.importer.launches(launch)) == (launch,)

    @pytest.mark.parametrize("text", ["", "\n", "hello\n", "{}\n", "\x00\x01"])
    def test_garbage_is_not_its_own(self, text: str) -> None:
        assert not self.importer.sniff(text)

    def test_a_truncated_output_gives_no_other_numbers(self) -> None:
        text = self.captured.read_text(encoding="utf-8")
        whole = self._values(text)
        for end in {1, len(text) // 3, len(text) // 2}:
            assert self._values(text[:end]) <= whole

    def _values(self, text: str) -> set[tuple[str, str, float]]:
        values = set()
        for launch in self.importer.launches(text):
            with suppress(ParseError):
                for trial in self.importer.parse(launch):
                    if isinstance(trial.outcome, Measured):
                        samples = trial.outcome.samples
                        values |= {(trial.probe, sample.metric, sample.value) for sample in samples}
        return values


def _words(text: str) -> set[str | float]:
    """Return the words of a text; numbers become floats, because JSON can write 1 as 1.0."""
    words: set[str | float] = set()
    for word in re.findall(r"[\w.+-]+", text):
        try:
            words.add(float(word))
        except ValueError:
            words.add(word)
    return words
