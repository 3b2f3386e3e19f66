"""The outputs of one comparison agree, read as text by code that knows nothing of the product."""

from __future__ import annotations

import json
from dataclasses import replace

import output_agreement
import output_words
import outputs
import pytest


def _page(**attributes):
    point = {
        "platform": "b", "probe": "compute.dgemm", "layer": "compute", "metric": "rate",
        "size_bytes": None, "higher_is_better": True, "verdict": "slower", "grade": "certain",
        "ratio": 2.0, "lo": 1.9, "hi": 2.1, "value": 1.0, "lost": 0, **attributes,
    }  # fmt: skip
    return outputs.Page((outputs.Point(**point),), ())


@pytest.mark.parametrize(
    ("text", "attributes"),
    [
        ("~ 2.00 [1.90, 2.10]", {}),
        ("2.00 [1.90, 2.10]", {"grade": "likely"}),
        ("2.30 [1.90, 2.10]", {}),
        ("? 1.90 to 2.10", {}),
        ("= equal", {}),
        ("2.00 [1.90, 2.10]", {"verdict": "inconclusive", "grade": "open"}),
    ],
)
def test_the_reader_sees_a_cell_that_contradicts_its_row(text, attributes):
    cell = outputs.TableCell("Compute", "DGEMM rate", "b", text)
    assert list(outputs.wrong_cells(_page(**attributes), [cell], "terminal"))


@pytest.mark.parametrize(
    ("line", "attributes"),
    [
        ("On b **2.00 times lower** \\[1.90, 2.10\\] (the DGEMM rate).", {"grade": "likely"}),
        ("On b likely **2.00 times lower** \\[1.90, 2.10\\] (the DGEMM rate).", {}),
        ("On b **2.00 times higher** \\[1.90, 2.10\\] (the DGEMM rate).", {}),
        ("On b cannot tell.", {}),
        ("On b **equal within 2 %**.", {}),
    ],
)
def test_the_reader_sees_a_layer_line_that_contradicts_its_rows(line, attributes):
    report = f"# title\n\n## Compute\n\n{line}\n\n## Method\n"
    assert list(output_words.wrong_layers(_page(**attributes), report))


@pytest.mark.parametrize(
    "answer",
    [
        "On c nothing could be compared.\nCompared with a.",
        "On b 1 of 3 cases failed. Also worse: compute 2.00 times (likely).\nCompared with a.",
        "On b this layer is better: compute 2.00 times.\nCompared with a.",
    ],
)
def test_the_reader_sees_an_answer_that_contradicts_its_rows(answer):
    assert list(output_words.wrong_answer(_page(), answer))


@pytest.mark.parametrize(
    "text",
    [
        "Compute: the DGEMM rate is likely 2.00 times lower [1.90, 2.10] on b (a 1 flop/s).",
        "Compute: the DGEMM rate is 2.10 times lower [1.90, 2.10] on b (a 1 flop/s).",
        "Compute: the DGEMM rate is 2.00 times lower [1.80, 2.10] on b (a 1 flop/s).",
        "Compute: the DGEMM rate is 2.00 times higher [1.90, 2.10] on b (a 1 flop/s).",
        "Compute: the DGEMM rate is 50 % higher [47, 52] on b (a 1 flop/s).",
    ],
)
def test_the_reader_sees_a_sentence_that_contradicts_its_row(text):
    assert list(output_words.wrong_sentences(_page(), text))


def test_the_reader_accepts_sentences_that_agree_with_their_row():
    text = "Compute: the DGEMM rate is 2.00 times lower [1.90, 2.10] on b (a 1 flop/s)."
    assert not list(output_words.wrong_sentences(_page(), text))
    text = "Compute: the DGEMM rate is 50 % lower [47, 52] on b (a 1 flop/s)."
    assert not list(output_words.wrong_sentences(_page(), text))


@pytest.mark.parametrize(
    "line",
    [
        "| DGEMM rate | b | 2.00 | 1.90–2.10 | 10 | likely slower |",
        "| DGEMM rate | b | 2.00 | 1.80–2.10 | 10 | slower |",
        "| DGEMM rate | b | 2.10 | 1.90–2.10 | 10 | slower |",
        "| DGEMM rate | b | 2.00 | 1.90–2.10 | 10 | faster |",
    ],
)
def test_the_reader_sees_a_table_that_contradicts_its_row(line):
    head = "| probe | platform | ratio | 95 % | n | verdict |\n|---|---|---:|---:|---:|---|\n"
    report = f"## Overview\n\n### Every probe\n\n{head}{line}\n"
    assert list(outputs.wrong_tables(_page(), report))


@pytest.mark.parametrize(
    "clause",
    [
        "all applications are likely up to 2.00 times slower, the mini-app ocean the most",
        "2 of 2 applications are up to 2.00 times slower, the mini-app ocean the most",
        "no loss of the mini-app ocean is shown (at most 3.5 % slower)",
        "the mini-app ocean is equal within 2 %",
    ],
)
def test_the_reader_sees_an_answer_about_a_program_that_contradicts_its_row(clause):
    page = _page(probe="app.ocean", layer="app", metric="time", higher_is_better=False)
    assert list(output_words.wrong_answer(page, f"On b {clause}.\nCompared with a."))


@pytest.mark.parametrize(("ratio", "faults"), [("1.60", 0), ("1.55", 1)])
def test_the_reader_holds_a_table_of_details_against_their_own_rows(ratio, faults):
    attributes = {"probe": "app.ocean", "layer": "app", "higher_is_better": False}
    page = _page(**attributes, metric="time", ratio=1.55)
    details = _page(**attributes, metric="communication", ratio=1.60).points
    report = (
        "## Applications\n\n### Mini-app ocean\n\n#### Time, communication\n\n"
        "| metric | platform | ratio | 95 % | verdict |\n| --- | --- | --- | --- | --- |\n"
        f"| communication | b | {ratio} | 1.90–2.10 | slower |\n"
    )
    found = list(outputs.wrong_tables(replace(page, details=details), report))
    assert len(found) == faults


def test_the_reader_takes_the_names_of_other_probes_from_the_findings():
    finding = {
        "kind": "finding",
        "probe": "mpi.barrier",
        "subject": "the first message below 8 KiB",
    }
    page = outputs.read_json("[]", json.dumps([finding]))
    assert page.subjects["mpi.barrier"] == ("the first message", "First message")


#: The first few, and three that once failed: an answer that called a likely loss of launches
#: certain, a report of a row without a ratio of any point, and `explain --json` of two runs of
#: which one lost all launches of a probe.
@pytest.mark.parametrize("number", [*range(6), 39, 97, 517])
def test_outputs_of_a_random_page_agree(number):
    assert list(output_agreement.page_disagreements(number)) == []


@pytest.mark.slow
@pytest.mark.parametrize("first", range(100, 160, 10))
def test_outputs_of_ten_random_pages_agree(first):
    faults = {n: list(output_agreement.page_disagreements(n)) for n in range(first, first + 10)}
    assert not {number: fault for number, fault in faults.items() if fault}
