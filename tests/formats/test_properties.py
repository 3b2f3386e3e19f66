"""What holds of every captured output: joining, splitting, importing twice, losing a line."""

import itertools
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bareline.formats.files import read_text
from bareline.session.intake import import_files
from bareline.store.run import Run
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Measured, format_point

DATA = Path(__file__).parent / "data"
CONTRIB = Path(__file__).parents[2] / "packages" / "bareline-contrib" / "tests" / "data"
pytestmark = pytest.mark.usefixtures("contrib")
COMPOSED = ("perfkit", "phoronix")
OUTPUTS = tuple(
    sorted(
        (
            *DATA.glob("*.out"),
            *DATA.glob("composed/*.out"),
            *CONTRIB.glob("*.out"),
            *(path for name in COMPOSED for path in CONTRIB.glob(f"composed/{name}.*.out")),
        )
    )
)


def trials_of(text):
    """Count the trials of a text, each with its case and its values."""
    try:
        found = read_text(text, Path("log"))
    except BarelineError:
        return Counter()
    return Counter(trial_of(each.imported) for each in found)


def trial_of(imported):
    outcome = imported.outcome
    values = ()
    if isinstance(outcome, Measured):
        values = tuple(
            (each.metric, format_point(each.point), each.value) for each in outcome.samples
        )
    return imported.platform, imported.case(), values


def ends_its_lines(text):
    return text if text.endswith("\n") else text + "\n"


@settings(
    max_examples=120,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.sampled_from(OUTPUTS), min_size=2, max_size=4))
def test_joining_logs_gives_the_union_of_their_trials(chosen):
    texts = [ends_its_lines(path.read_text()) for path in chosen]
    expected = sum((trials_of(text) for text in texts), Counter())
    assert trials_of("".join(texts)) == expected


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda path: path.name)
def test_an_output_behind_itself_gives_its_trials_twice(output):
    text = ends_its_lines(output.read_text())
    once = trials_of(text)
    assert trials_of(text + text) == Counter({key: 2 * n for key, n in once.items()})


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda path: path.name)
def test_splitting_before_any_launch_gives_the_same_trials(output):
    if output.name == "reframe.perflog.out":
        pytest.skip("the lines of a performance log need its titles")
    text = ends_its_lines(output.read_text())
    found = read_text(text + text, Path("log"))
    lines = (text + text).splitlines(keepends=True)
    for first_line in {each.first_line for each in found} - {1}:
        before, after = "".join(lines[: first_line - 1]), "".join(lines[first_line - 1 :])
        assert trials_of(before) + trials_of(after) == trials_of(text + text)


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda path: path.name)
def test_importing_twice_changes_nothing(output, tmp_path):
    own = output.name.startswith(("reframe", "asv", "perfkit", "phoronix"))
    platform = None if own else "p"
    import_files([output], platform, tmp_path / "run")
    before = [record.outcome for record in Run.open(tmp_path / "run").records()]
    facts = Run.open(tmp_path / "run").facts()
    again = import_files([output], platform, tmp_path / "run")
    assert all(row["trial"] is None for row in again.rows)
    assert [record.outcome for record in Run.open(tmp_path / "run").records()] == before
    assert Run.open(tmp_path / "run").facts() == facts


def pairs_of_outputs():
    """Give neighbours of different formats, so that every output is once the one that is cut."""
    return list(itertools.pairwise((*OUTPUTS, OUTPUTS[0])))


@pytest.mark.parametrize("pair", pairs_of_outputs(), ids=lambda pair: pair[0].name)
def test_a_line_less_in_one_output_changes_no_other_output(pair):
    first, other = (ends_its_lines(path.read_text()) for path in pair)
    expected = trials_of(other)
    lines = first.splitlines(keepends=True)
    step = 1 + len(lines) // 25
    for at in range(0, len(lines), step):
        cut = "".join(lines[:at] + lines[at + 1 :])
        for text in (cut + other, other + cut):
            kept = trials_of(text)
            assert all(kept[trial] >= n for trial, n in expected.items()), (at, lines[at])


@pytest.mark.parametrize(
    "program",
    ["imb", "ipm", "mpip", "npb", "osu", "perftest", "phoronix", "sockperf", "stream"],
)
def test_a_launch_that_lost_its_title_changes_no_launch_behind_it(program):
    outputs = [path for path in OUTPUTS if path.name.partition(".")[0] == program]
    for path, path_behind in itertools.product(outputs, repeat=2):
        first, other = (ends_its_lines(each.read_text()) for each in (path, path_behind))
        lines = first.splitlines(keepends=True)
        expected = trials_of(other)
        for at in range(4):
            kept = trials_of("".join(lines[:at] + lines[at + 1 :]) + other)
            assert all(kept[trial] >= n for trial, n in expected.items()), (path, path_behind, at)
