"""What the README lets a newcomer type is planned as it is printed."""

import re
import shlex
from pathlib import Path

import pytest

from bareline.cli.main import main

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
#: What the reader has to bring: a profile's ladder, a platform of their own.
_THEIRS = ("ladder.toml", "my-cloud", "my-cluster", "my-slurm")
RUNS = [
    line.split("#")[0].split()
    for block in re.findall(r"^```\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.startswith("bareline run ") and not any(name in line for name in _THEIRS)
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Give a folder with the files that the README shows."""
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"```toml\n# (\S+)\n(.*?)```", README, re.DOTALL):
        Path(name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("command", RUNS, ids=lambda command: " ".join(command[2:]))
def test_it_is_planned(command, folder, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [*command, "--dry-run"])
    with pytest.raises(SystemExit) as ended:
        main()
    done = capsys.readouterr()
    assert ended.value.code == 0, done.err
    assert "trials in" in done.out
    assert "cannot be compared" not in done.err, shlex.join(command)


def test_the_first_commands_are_among_them():
    assert ["quick", "--on", "bare", "--on", "bare-tcp"] in [command[2:] for command in RUNS]
    assert len(RUNS) >= 5
