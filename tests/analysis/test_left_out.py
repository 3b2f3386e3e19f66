"""What a plan leaves out: said by name and reason, never a failure, never silently missing."""

import pytest

from bareline.analysis.judgements.conditions import parse_condition
from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.analysis.words.conditions import check
from bareline.report.content.document import document_of
from bareline.report.content.missing import missing_blocks
from bareline.session import begin
from bareline.session.runner import execute
from bareline.study.study import study_from_toml
from bareline.testing.runs import SilentObserver
from bareline.vocabulary.verdicts import Verdict


@pytest.fixture
def compared(tmp_path, null_platforms):
    """Compare a large platform with a small one on nodes that the small one lacks."""

    def make(baseline, nodes=(1, 2, 4)):
        study = study_from_toml(
            {"study": {"name": "s", "launches": 6, "precision": 0},
             "measure": [{"probe": "null", "nodes": list(nodes), "ranks_per_node": 2}]}, where="t",
        )  # fmt: skip
        specs = null_platforms(small={"nodes": 2}, large={"nodes": 4, "factor": 1.5})
        run = begin.create_run(study, specs, tmp_path / baseline, baseline=baseline)
        assert execute(run, SilentObserver()).failed == 0
        return Comparison(read_runs([run]))

    return make


@pytest.mark.parametrize("baseline", ["small", "large"])
def test_a_case_that_does_not_fit_has_a_row_with_the_reason(compared, baseline):
    rows = compared(baseline).table.filter(metric="time").sort("ranks")
    assert rows["ranks"].to_list() == [2, 4, 8]
    decided = "slower" if baseline == "small" else "faster"
    assert rows["verdict"].to_list() == [decided, decided, "does-not-fit"]
    (caveat,) = rows["caveats"].to_list()[-1]
    assert caveat == "small does not fit: needs 4 nodes, the platform has 2"
    assert rows["ratio"].to_list()[-1] is None


def test_the_page_names_it_once_and_counts_no_failure(compared):
    document = document_of(compared("small"))
    (unfit,) = missing_blocks(document, [])
    assert unfit.title == "Left out by the plan"
    ((*told, _),) = unfit.blocks[0].rows
    assert [field.plain for field in told] == ["small", "null", "8", "1"]
    assert document.records.trials.filter(status="failed").is_empty()


def test_a_finding_of_nothing_else_says_so(compared):
    comparison = compared("small", nodes=(1, 4))
    only = [point.verdict for finding in comparison.findings for point in finding.points]
    assert Verdict.DOES_NOT_FIT in only
    alone = next(f for f in comparison.findings if f.verdict is Verdict.DOES_NOT_FIT)
    assert "4 nodes" in alone.reason
    (statement,) = comparison.statements
    assert "left out: " in statement.text and "needs 4 nodes" in statement.text


def test_it_is_no_reason_to_fail_and_can_be_asked_for(compared):
    comparison = compared("small")
    assert not check(parse_condition("null > 2"), comparison).violations
    assert len(check(parse_condition("null is does-not-fit"), comparison).violations) == 1


def test_what_fits_on_neither_side_stands_on_the_page_alone(compared):
    comparison = compared("small", nodes=(1, 8))
    assert set(comparison.table["ranks"]) == {2}
    *_, unfit = missing_blocks(document_of(comparison), [])
    told = {(platform.plain, ranks.plain) for platform, _, ranks, *_ in unfit.blocks[0].rows}
    assert told == {("small", "16"), ("large", "16")}
