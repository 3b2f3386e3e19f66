"""What conditions found as JUnit's XML, which continuous integration shows as tests.

A condition is a test case, and so is each case of the plan that failed on a platform: what could
not be measured is an error, whether or not a condition asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from bareline.analysis.numbers.records import Records
from bareline.analysis.numbers.summary import failed_cases
from bareline.analysis.words.conditions import Outcome
from bareline.report.content.wording import case_words
from bareline.vocabulary.errors import StoreError
from bareline.vocabulary.model import Stage
from bareline.vocabulary.texts import cleaned


def write_junit(records: Records, outcomes: Sequence[Outcome], path: Path) -> None:
    """Write conditions and failed cases as a suite of tests.

    Raises StoreError: the file cannot be written.
    """
    cases = [_condition(outcome) for outcome in outcomes]
    cases += [_failed(row) for row in failed_cases(records).iter_rows(named=True)]
    counts = {
        "tests": len(cases),
        "failures": sum(case.find("failure") is not None for case in cases),
        "errors": sum(case.find("error") is not None for case in cases),
        "skipped": sum(case.find("skipped") is not None for case in cases),
    }
    name = "+".join(run.path.name for run in records.runs)
    suite = ElementTree.Element("testsuite", name=cleaned(f"bareline {name}"))
    for key, number in counts.items():
        suite.set(key, str(number))
    suite.extend(cases)
    tree = ElementTree.ElementTree(suite)
    ElementTree.indent(tree)
    try:
        tree.write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise StoreError(f"cannot be written: {error.strerror}", where=str(path)) from error


def _condition(outcome: Outcome) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname="condition", name=cleaned(outcome.condition))
    if outcome.violations:
        told = f"{len(outcome.violations)} of {outcome.tested} rows meet it"
        failure = ElementTree.SubElement(case, "failure", message=told)
        failure.text = cleaned("\n".join(outcome.violations))
    return case


def _failed(row: dict[str, object]) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        classname=cleaned(f"measured on {row['platform']}"),
        name=cleaned(case_words(row)),
    )
    reason = cleaned(str(row["reason"]))
    if row["stage"] == Stage.ABSENT.value:
        ElementTree.SubElement(case, "skipped", message=reason)
    else:
        error = ElementTree.SubElement(case, "error", message=f"{row['n_failed']} trials failed")
        error.text = f"[{row['stage']}] {reason}"
    return case
