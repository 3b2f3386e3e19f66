"""What every platform's table may hold, whatever its type."""

import pytest

from bareline.platforms.config import make_spec
from bareline.vocabulary.errors import PlatformError

ENVIRONMENT = {"OPENBLAS_CORETYPE": "SkylakeX", "EMPTY": ""}


@pytest.mark.parametrize("kind", ["local", "netns", "null", "sim"])
def test_the_variables_of_a_platform_are_kept_with_it(kind):
    more = {"network": "10g"} if kind == "sim" else {}
    spec = make_spec("p", {"type": kind, "environment": ENVIRONMENT, **more}, where="test")
    assert spec.environment == tuple(ENVIRONMENT.items())
    assert make_spec("p", spec.to_dict(), where="run.toml").environment == spec.environment
    without = make_spec("p", {"type": kind, **more}, where="test")
    assert without.environment == () and "environment" not in without.to_dict()


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ("OPENBLAS_CORETYPE=SkylakeX", "is not a table"),
        (["A"], "is not a table"),
        (
            {"OMP_NUM_THREADS": 2},
            "'environment.OMP_NUM_THREADS': 2 is not a text; write it in quotes",
        ),
        ({"A": "\0"}, "value of 'A' is not a text"),
        ({"A B": "c"}, "'A B' is not a variable"),
        ({"": "c"}, "'' is not a variable"),
        ({"A=B": "c"}, "'A=B' is not a variable"),
        ({"BARELINE_TRIAL": "c"}, "'BARELINE_TRIAL' is not a variable"),
    ],
)
def test_what_is_no_environment_is_refused(environment, words):
    with pytest.raises(PlatformError, match=words):
        make_spec("p", {"type": "null", "environment": environment}, where="test")


def test_a_misspelt_key_names_the_common_ones_too():
    with pytest.raises(PlatformError) as refused:
        make_spec("p", {"type": "null", "enviroment": {}}, where="test")
    assert "environment" in str(refused.value.hint)


def test_a_type_of_the_contributed_package_names_the_package():
    with pytest.raises(PlatformError, match="no platform type 'ec2'") as refused:
        make_spec("cloud", {"type": "ec2", "region": "us-east-1"}, where="platforms.toml")
    assert "bareline-contrib" in refused.value.hint
