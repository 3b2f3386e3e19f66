"""A command line in a folder that has a study and a platform file."""

import sys
from dataclasses import dataclass

import pytest

from bareline.cli.main import main

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
    """What a command said."""

    stdout: str
    stderr: str


@pytest.fixture
def bareline(place, monkeypatch, capsys):
    """Run the command line in a folder that has a study and a platform file."""
    monkeypatch.chdir(place)

    def go(*arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["bareline", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        done = Done(*capsys.readouterr())
        assert ended.value.code == code, done.stderr + done.stdout
        return done

    return go
