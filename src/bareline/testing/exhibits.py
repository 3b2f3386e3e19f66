"""The contract of every kind of exhibit (figure or table of the report page)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.content.document import Document, document_of
from bareline.report.exhibits.base import Exhibit, find_exhibit
from bareline.testing.runs import planted_run
from bareline.vocabulary.exhibit import ExhibitSpec


@pytest.fixture(scope="session")
def planted_document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Return the document of a run with known true values; import it with the contract."""
    run = planted_run(tmp_path_factory.mktemp("exhibits") / "run", params={"points": 3})
    return document_of(Comparison(read_runs([run])))


class ExhibitContract:
    """Tests of a kind of exhibit; the fixture `planted_document` must also be imported."""

    exhibit: Exhibit

    def test_it_is_found_by_its_kind(self) -> None:
        assert find_exhibit(self.exhibit.kind) is self.exhibit
        assert self.exhibit.summary

    def test_its_figures_have_titles_and_numbers(self, planted_document: Document) -> None:
        figures = self.exhibit.figures(planted_document, self._spec("null"))
        for figure in figures:
            assert figure.title
            assert figure.panels or figure.data_table
            if figure.panels:
                assert figure.data_table, "every figure has its numbers in a table"

    def test_the_names_of_figures_are_unique(self, planted_document: Document) -> None:
        names = [figure.id for figure in self.exhibit.figures(planted_document, self._spec("null"))]
        assert len(names) == len(set(names))

    def test_nothing_to_show_gives_no_figure(self, planted_document: Document) -> None:
        assert self.exhibit.figures(planted_document, self._spec("no.such.probe")) == []

    def test_a_page_holds_it(self, planted_document: Document, tmp_path: Path) -> None:
        from bareline.report.page.files import write_report

        document = replace(planted_document, exhibits=(self._spec("null"),))
        write_report(document, tmp_path / "page.html")
        assert (tmp_path / "page.html").stat().st_size > 1000

    def _spec(self, probe: str) -> ExhibitSpec:
        return ExhibitSpec(kind=self.exhibit.kind, probe=probe)


def seen_as(document: Document, **views: object) -> Document:
    """Return a copy of a report's document with other values of some attributes.

    - `views`: the new values by name of the attribute, such as ``findings`` or ``summary``.
    """
    other = replace(document)
    other.__dict__.update(views)
    return other
