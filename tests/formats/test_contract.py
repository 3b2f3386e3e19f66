"""Every importer against the contract, with every good output that there is."""

from pathlib import Path

import pytest

from bareline.formats.importer import load_importers
from bareline.testing.importers import ImporterContract

DATA = Path(__file__).parent / "data"
#: Outputs all of whose trials were measured; named after their importer, those of the published
#: collection after the suite.
GOOD = sorted(
    (*DATA.glob("*.out"), *DATA.glob("composed/*.out"), *DATA.glob("ib-vs-roce/ib/*.out"))
)


def name_of(file):
    first = file.name.partition(".")[0]
    return {"omb": "osu"}.get(first, first)


class TestImporters(ImporterContract):
    @pytest.fixture(autouse=True, params=GOOD, ids=lambda file: file.name)
    def _each(self, request):
        self.importer = load_importers()[name_of(request.param)]
        self.captured = request.param


def test_every_importer_has_an_output():
    assert {name_of(file) for file in GOOD} == set(load_importers())
