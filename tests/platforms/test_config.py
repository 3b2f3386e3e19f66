"""What every platform's table may hold, whatever its type."""

import pytest

from bareline.platforms.config import make_spec
from bareline.testing.messages import raises
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
    ("environment", "code"),
    [
        ("OPENBLAS_CORETYPE=SkylakeX", "BL-PLATFORMS-613"),
        (["A"], "BL-PLATFORMS-613"),
        (
            {"OMP_NUM_THREADS": 2},
            "BL-PLATFORMS-613",
        ),
        ({"A": "\0"}, "BL-PLATFORMS-636"),
        ({"A B": "c"}, "BL-PLATFORMS-503"),
        ({"": "c"}, "BL-PLATFORMS-503"),
        ({"A=B": "c"}, "BL-PLATFORMS-503"),
        ({"BARELINE_TRIAL": "c"}, "BL-PLATFORMS-503"),
    ],
)
def test_what_is_no_environment_is_refused(environment, code):
    with raises(PlatformError, code):
        make_spec("p", {"type": "null", "environment": environment}, where="test")


def test_a_misspelt_key_names_the_common_ones_too():
    with raises(PlatformError, "BL-PLATFORMS-613", "'enviroment'", "'environment'"):
        make_spec("p", {"type": "null", "enviroment": {}}, where="test")


def test_a_type_of_the_contributed_package_names_the_package():
    with raises(PlatformError, "BL-PLATFORMS-143", "ec2", "bareline-contrib"):
        make_spec("cloud", {"type": "ec2", "region": "us-east-1"}, where="platforms.toml")
