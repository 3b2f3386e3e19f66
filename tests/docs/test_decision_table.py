"""The decision table of the statistics page has the rules of the code, in their order."""

from pathlib import Path

from bareline.vocabulary.verdicts import DecisionRule, Grade

PAGE = Path(__file__).parents[2] / "docs" / "method" / "statistics.md"


def test_the_page_lists_every_rule_in_the_order_of_the_code():
    text = PAGE.read_text(encoding="utf-8").partition("**The decision table.**")[2]
    table = text.partition("|---|")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[1:]]
    assert list(dict.fromkeys(row[0] for row in rows)) == [rule.value for rule in DecisionRule]
    grades = {grade.value.replace("-", " ") for grade in Grade} | {"none"}
    assert {row[3] for row in rows} <= grades
