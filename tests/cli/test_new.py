"""bareline new: what it says; that its packages work is tried in tests/outside."""

import pytest

from bareline.cli.template import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_it_lists_what_it_wrote_and_what_to_type_next(bareline, place, kind):
    done = bareline("new", kind, "my_own")
    files = done.stdout.splitlines()
    assert files[0] == "bareline-my-own/pyproject.toml"
    assert all((place / file).is_file() for file in files)
    assert "pip install -e bareline-my-own" in done.stderr
    assert bareline("new", kind, "my_own", code=2).ended_by("BL-CLI-496", "bareline-my-own")
    bareline("new", kind, "my_own", "-o", "elsewhere/deep")
    assert (place / "elsewhere" / "deep" / "pyproject.toml").is_file()


@pytest.mark.parametrize(
    ("arguments", "error", "values"),
    [
        (("porbe", "x"), "BL-CLI-567", ("'porbe'", "'probe'")),
        (("probe", "Two Words"), "BL-CLI-116", ("'Two Words'",)),
        (("probe", "../x"), "BL-CLI-116", ("'../x'",)),
        (("probe", "class"), "BL-CLI-116", ("'class'",)),
    ],
)
def test_what_it_cannot_write_is_one_line(bareline, arguments, error, values):
    assert bareline("new", *arguments, code=2).ended_by(error, *values)
