import pytest

from bareline.report.content.wording import axis_title, distinct_parts
from bareline.vocabulary.place import parameter_value


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("frequency_hz", "Frequency (Hz)"),
        ("quantum_s", "Quantum (s)"),
        ("size_bytes", "Message size"),
        ("working_set_bytes", "Working set"),
        ("ranks", "Ranks"),
    ],
)
def test_axes_have_titles_with_units(name: str, title: str) -> None:
    assert axis_title(name) == title


def test_a_frequency_has_its_unit() -> None:
    assert parameter_value("frequency_hz", 1250.0) == "1.25 kHz"


@pytest.mark.parametrize(
    ("titles", "parts"),
    [
        (["NPB CG", "NPB FT"], ["CG", "FT"]),
        # "Rate" alone would not name the first of them.
        (["Linpack rate", "Linpack rate over ranks"], ["Linpack rate", "Linpack rate over ranks"]),
        (["MPI ring"], ["MPI ring"]),
        (["MPI_Bcast", "MPI ring"], ["MPI_Bcast", "MPI ring"]),
    ],
)
def test_titles_are_shortened_to_what_differs(titles: list[str], parts: list[str]) -> None:
    assert distinct_parts(titles) == parts
