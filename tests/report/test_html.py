import base64
import gzip
import html
import io
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from bareline.errors import AnalysisError, StoreError
from bareline.report.document import Document, ExhibitSpec
from bareline.report.html import render_page, write_figures, write_page


class Outline(HTMLParser):
    """The ids, links, headings and tags of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: list[str] = []
        self.headings: list[str] = []
        self._open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.append(tag)
        if known.get("id"):
            self.ids.append(str(known["id"]))
        if tag == "a" and known.get("href"):
            self.links.append(str(known["href"]))
        self._open = tag == "h2"

    def handle_data(self, data: str) -> None:
        if self._open:
            self.headings.append(data)
            self._open = False


@pytest.fixture(scope="module")
def page(document: Document) -> str:
    return render_page(document)


def test_the_page_has_the_order_that_readers_need(page: str) -> None:
    assert Outline(page).headings == [
        "Verdict", "Overview", "Platforms", "Compute", "Memory", "Network", "MPI",
        "Failed, missing, caveats", "Method and data",
    ]  # fmt: skip


def test_ids_are_unique_and_every_link_arrives(page: str) -> None:
    outline = Outline(page)
    assert len(set(outline.ids)) == len(outline.ids)
    for link in outline.links:
        assert link.startswith("data:") or link[1:] in outline.ids


def test_nothing_is_fetched(page: str) -> None:
    assert "default-src 'none'" in html.unescape(page)
    outside = re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?!#|data:)([^\"'\s)>]+)", page)
    assert outside == []


def test_failures_holes_and_caveats_are_told(page: str) -> None:
    gaps = page[page.index('id="gaps"') :]
    assert "killed by SIGILL" in gaps
    assert "nuttcp: connection refused" in gaps
    assert "mpi.allreduce, 8 ranks" in gaps
    assert "the hypervisor took processor time away" in gaps
    assert "never came up" in gaps


def test_equal_facts_are_folded(page: str) -> None:
    folded = page.index("3 characteristics the same on every platform")
    assert page.index("QEMU Virtual CPU") < folded < page.index("Open MPI 4.1.4")


def test_names_are_text(hostile: Document) -> None:
    page = render_page(hostile)
    assert page.count("<script>") == 1
    assert "window.broken=1</script>" not in page.replace("&lt;/script&gt;", "")
    assert "&lt;script&gt;" in page
    assert "49" not in re.findall(r"<h1>(.*?)</h1>", page)[0]


def test_downloads_hold_the_numbers(page: str, document: Document) -> None:
    assert document.comparison is not None
    found = re.search(r'download="comparison\.csv" href="data:text/csv;base64,([^"]+)"', page)
    assert found
    table = pl.read_csv(io.BytesIO(base64.b64decode(found[1])), infer_schema_length=None)
    assert table.height == document.comparison.height
    assert table["ratio"].to_list() == pytest.approx(document.comparison["ratio"].to_list())
    found = re.search(r'download="samples\.csv\.gz" href="data:[^,]+,([^"]+)"', page)
    assert found
    samples = pl.read_csv(gzip.decompress(base64.b64decode(found[1])), infer_schema_length=None)
    assert samples.height == document.samples.height


def test_the_same_document_gives_the_same_page(page: str, document: Document) -> None:
    assert render_page(document) == page


def test_one_platform_alone_has_a_page(planted: Callable[..., Document]) -> None:
    document = planted(("bare",), broken=False, blocks=6)
    page = render_page(document)
    assert "bare alone" in page
    assert 'id="verdict"' not in page
    assert "no number carries a caveat" in page or "Caveats" in page


def test_few_trials_give_no_interval(planted: Callable[..., Document]) -> None:
    page = render_page(planted(blocks=3, broken=False))
    assert "fewer than 6 trials: no interval and no verdict" in page


def test_a_probe_that_always_failed_still_has_its_place(
    planted: Callable[..., Document],
) -> None:
    document = planted(("bare", "vm"), probes=("memory.stream", "compute.dgemm"))
    gone = document.summary.filter(pl.col("probe") != "memory.stream")
    assert document.comparison is not None
    silent = document.comparison.with_columns(
        pl.when(pl.col("probe") == "memory.stream").then(None).otherwise("value").alias("value")
    )
    page = render_page(replace(document, summary=gone, comparison=silent))
    assert 'id="probe-memory-stream"' in page
    assert "No platform gave a number" in page


def test_declared_exhibits_replace_the_defaults(document: Document) -> None:
    specs = [
        ExhibitSpec(kind="trials", probe="net.nuttcp", metric="rate", title="Trials"),
        ExhibitSpec(kind="curve", probe="absent", title="Nowhere"),
    ]
    page = render_page(replace(document, exhibits=specs))
    assert 'id="overview"' in page and "<h4>Trials</h4>" in page
    assert "mpi-pingpong" not in page.split("Exhibits without data")[0]
    assert "Nowhere" in page.split("Exhibits without data")[1]


def test_an_unknown_kind_is_one_clear_error(document: Document, tmp_path: Path) -> None:
    wrong = replace(document, exhibits=[ExhibitSpec(kind="pie")])
    with pytest.raises(AnalysisError, match="no exhibit is of kind 'pie'"):
        write_page(wrong, tmp_path / "x.html")


def test_a_page_that_cannot_be_written_is_one_clear_error(
    planted: Callable[..., Document], tmp_path: Path
) -> None:
    document = planted(("bare",), probes=("compute.dgemm",), broken=False)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="cannot be written"):
        write_page(document, tmp_path / "file" / "page.html")


def test_figures_are_files_too(planted: Callable[..., Document], tmp_path: Path) -> None:
    document = planted(probes=("compute.dgemm", "mpi.allreduce"), ranks=(2,), blocks=6)
    files = write_figures(document, tmp_path / "figures")
    names = {file.name for file in files}
    assert {"overview.svg", "overview.png", "curve-mpi-allreduce-latency.svg"} <= names
    assert all(file.stat().st_size > 2000 for file in files)
    assert "mpi.allreduce: Latency by message size" in (
        tmp_path / "figures" / "curve-mpi-allreduce-latency.svg"
    ).read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_large_run_gives_a_moderate_page(planted: Callable[..., Document]) -> None:
    document = planted(blocks=400, broken=False, ranks=(2,))
    assert document.samples.height > 100_000
    assert len(render_page(document)) < 12_000_000
