import re
from pathlib import Path

from bareline.report.content.document import Document
from bareline.vocabulary.exhibit import ExhibitSpec

REFERENCE = Path(__file__).parents[3] / "docs" / "reference" / "exhibits.md"


def test_trials_are_launches_and_samples_their_values(document: Document) -> None:
    assert {"status", "reason"} <= set(document.records.trials.columns)
    assert "value" in document.samples.columns
    own = document.metric_samples["compute.dgemm", "rate"]
    assert set(own["probe"]) == {"compute.dgemm"}


def test_the_reference_names_every_key_of_an_exhibit_and_no_other() -> None:
    told = REFERENCE.read_text(encoding="utf-8").partition("| key |")[2].partition("\n\n")[0]
    first = (line.split("|")[1] for line in told.splitlines()[2:])
    assert {key for cell in first for key in re.findall(r"`(\w+)`", cell)} == set(
        ExhibitSpec.model_fields
    )
