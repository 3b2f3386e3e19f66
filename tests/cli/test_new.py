"""bareline new: what it says; that its packages work is tried in tests/outside."""

import pytest

from bareline.cli.template import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_it_lists_what_it_wrote_and_what_to_type_next(bareline, place, kind):
    done = bareline("new", kind, "my_own")
    files = done.stdout.splitlines()
    assert files[0] == "bareline-my-own/pyproject.toml"
    assert all((place / file).is_file() for file in files)
    assert "next: pip install -e bareline-my-own" in done.stderr
    told = bareline("new", kind, "my_own", code=2).stderr
    assert "bareline-my-own exists; name another folder with -o" in told
    bareline("new", kind, "my_own", "-o", "elsewhere/deep")
    assert (place / "elsewhere" / "deep" / "pyproject.toml").is_file()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("porbe", "x"), "did you mean 'probe'"),
        (("probe", "Two Words"), "is not a valid name for a plug-in"),
        (("probe", "../x"), "is not a valid name for a plug-in"),
        (("probe", "class"), "is not a valid name for a plug-in"),
    ],
)
def test_what_it_cannot_write_is_one_line(bareline, arguments, told):
    assert told in bareline("new", *arguments, code=2).stderr
