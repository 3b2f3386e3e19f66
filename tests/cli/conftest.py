"""A command line in a folder that has a study and a platform file."""

import re
import sys
from dataclasses import dataclass

import pytest

from bareline.cli.main import main
from bareline.vocabulary.message_codes import code_of

STUDY = """
[study]
name = "planted"
launches = 7
precision = 0
[[measure]]
probe = "null"
params = {points = 3, spread = 0.01}
scale.small = {params = {points = 1}}
[scale.small]
launches = 2
min_launches = 2
"""
PLATFORMS = """
[platform.a]
type = "null"
[platform.b]
type = "null"
factor = 2.0
[platform.broken]
type = "null"
fail_every = 1
"""


@pytest.fixture
def place(tmp_path):
    (tmp_path / "planted.toml").write_text(STUDY)
    (tmp_path / "platforms.toml").write_text(PLATFORMS)
    return tmp_path


@dataclass
class Done:
    """The outputs of a command, and the code of the error that ended it, if one did."""

    stdout: str
    stderr: str
    error_code: str | None

    def ended_by(self, code, *values):
        """Whether an error with this code ended the command, and its line contains the values."""
        return self.error_code == code and all(value in self.stderr for value in values)

    def has_line(self, *values):
        """Whether a line on stderr contains all of these values as whole words."""
        patterns = [re.compile(rf"(?<![\w.]){re.escape(str(value))}(?!\w)") for value in values]
        return any(
            all(pattern.search(line) for pattern in patterns) for line in self.stderr.splitlines()
        )


@pytest.fixture
def bareline(place, monkeypatch, capsys):
    """Run the command line in a folder that has a study and a platform file."""
    monkeypatch.chdir(place)

    def go(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["bareline", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        error = ended.value.__context__
        done = Done(*capsys.readouterr(), None if error is None else code_of(error))
        assert ended.value.code == code, done.stderr + done.stdout
        return done

    return go
