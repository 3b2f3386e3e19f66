"""Who takes a study's roles on this machine."""

import pytest

from bareline.session.begin import cast_study
from bareline.study.study import study_from_toml
from bareline.vocabulary.errors import UsageError

CONTENT = {
    "study": {"name": "s", "baseline": "native"},
    "role": {
        "native": {"title": "Native", "platform": "bare"},
        "far": {"title": "Far", "platform": "elsewhere"},
        "none": {"title": "None"},
    },
    "measure": [{"probe": "null"}],
}


def cast(tmp_path, given=(), on=(), text='[platform.bare]\ntype = "null"\n', *, anyway=True):
    file = tmp_path / "platforms.toml"
    file.write_text(text)
    study, lines = cast_study(study_from_toml(CONTENT, where="s"), given, on, file, anyway=anyway)
    return {name: role.platform for name, role in study.roles.items()}, lines


def test_a_default_that_this_machine_lacks_is_told_and_left_out(tmp_path):
    roles, lines = cast(tmp_path)
    assert roles == {"native": "bare", "far": None, "none": None}
    assert lines == [
        "role far is not measured here (no platform is named 'elsewhere'); --as far=PLATFORM "
        "maps one",
        "role none is not measured here; --as none=PLATFORM maps one",
    ]


def test_a_default_that_is_not_available_says_why(tmp_path):
    text = (
        '[platform.bare]\ntype = "null"\n[platform.elsewhere]\ntype = "vm"\n'
        'nic = { attach = "vf", device = "nonesuch0" }\n'
    )
    roles, lines = cast(tmp_path, text=text)
    assert roles["far"] is None
    assert lines[0].startswith("role far is not measured here (elsewhere: ")


def test_a_study_that_would_compare_nothing_stops_with_the_step_that_mends_it(tmp_path):
    text = (
        '[platform.bare]\ntype = "null"\n[platform.other]\ntype = "null"\n'
        '[platform.elsewhere]\ntype = "vm"\nnic = { attach = "vf", device = "nonesuch0" }\n'
    )
    with pytest.raises(UsageError) as stopped:
        cast(tmp_path, text=text, anyway=False)
    told = str(stopped.value)
    assert "1 of 3 roles can be measured here (elsewhere: " in told
    assert "`--as none=" in told
    assert "none=bare`" not in told  # it has a role already
    assert told.endswith("go on with --anyway")
    roles, lines = cast(tmp_path, text=text)
    assert roles["native"] == "bare"
    assert len(lines) == 2
    # One who chose platforms measures the others elsewhere, or another time.
    assert cast(tmp_path, on=["bare"], text=text, anyway=False)[0]["native"] == "bare"
    assert cast(tmp_path, given=["far=other"], text=text, anyway=False)[0]["far"] == "other"


def test_what_the_command_line_names_is_never_dropped(tmp_path):
    roles, _ = cast(tmp_path, on=["bare", "elsewhere"])
    assert roles["far"] == "elsewhere"
    roles, _ = cast(tmp_path, given=["far=another"])
    assert roles["far"] == "another"


def test_a_study_without_roles_is_left_alone(tmp_path):
    plain = study_from_toml({**CONTENT, "role": {}, "study": {"name": "s"}}, where="s")
    assert cast_study(plain, [], ["bare"], None) == (plain, [])


@pytest.mark.parametrize("name", ["nebula", "flexible-fabric", "magellan", "infinicloud"])
def test_defaults_of_the_published_studies_are_built_in(name):
    from bareline.platforms.config import load_platforms
    from bareline.study.catalogue import find_study

    known = load_platforms()
    defaults = [role.platform for role in find_study(name).roles.values() if role.platform]
    assert defaults
    for platform in defaults:
        assert platform in known
        assert known[platform].builtin
