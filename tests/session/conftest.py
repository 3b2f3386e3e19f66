"""What several tests of sessions need."""

import sys

import pytest

from bareline.cli.main import main


@pytest.fixture
def bareline(monkeypatch, capsys, tmp_path):
    """Run a command line in a folder of its own; give its exit code and its outputs."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bareline", *map(str, argv)])
        with pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        return ended.value.code, printed.out, printed.err

    return run
