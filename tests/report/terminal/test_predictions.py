import pytest

from bareline.report.terminal.predictions import error_words


@pytest.mark.parametrize(
    ("predicted_s", "expected"),
    [
        (0.514, "right within 0.5%"),
        (0.515, "right within 0.5%"),
        (0.519, "1% too high"),
        (0.25, "51% too low"),
    ],
)
def test_an_error_is_never_zero_per_cent(predicted_s: float, expected: str) -> None:
    assert error_words(predicted_s, 0.515) == expected
