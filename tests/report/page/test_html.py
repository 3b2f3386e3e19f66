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
import store_at_scale

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.host.tools import find_browser
from bareline.report.content.document import Document, document_of
from bareline.report.exhibits.base import find_exhibit
from bareline.report.page.drawing import draw_figure
from bareline.report.page.files import write_figures, write_report
from bareline.report.page.html import render_page
from bareline.report.page.templates import link_terms
from bareline.store.run import Run
from bareline.testing.exhibits import seen_as
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError, StoreError
from bareline.vocabulary.exhibit import ExhibitSpec


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


def words_of(page: str) -> str:
    """Return the text of a page without tags and links."""
    return html.unescape(re.sub(r"<[^>]*>", "", page))


@pytest.fixture(scope="module")
def page(document: Document) -> str:
    return render_page(document)


def test_the_page_has_the_order_that_readers_need(page: str) -> None:
    assert Outline(page).headings == [
        "Verdict", "Overview", "Platforms", "Compute", "Memory", "Network", "MPI",
        "Failed, missing, left out, caveats", "Method and data", "Glossary",
    ]  # fmt: skip


def test_the_verdict_is_a_line_a_matrix_and_sentences(page: str, document: Document) -> None:
    verdict = page[page.index('id="verdict"') : page.index('id="all"')]
    places = [verdict.index(mark) for mark in ('class="headline"', 'class="glance"')]
    assert places == sorted(places)
    assert not re.search(r"\w\.\.(\s|$)", words_of(page)), "a sentence ends with two full stops"
    # Sentences stand in their layer's section, behind its line and before its strip.
    assert 'class="verdict"' not in verdict
    mpi = page[page.index('<section id="layer-mpi"') :]
    mpi = mpi[: mpi.index("</section>")]
    places = [mpi.index(mark) for mark in ('class="line"', 'class="verdict"', 'class="strip"')]
    assert places == sorted(places)
    assert document.glance is not None
    assert document.glance.promise in words_of(verdict)
    squares = re.findall(r'<td class="c\d+ ([a-z0-4-]+) first" data-row="([^"]*)"', verdict)
    looks = {look for look, _ in squares}
    assert {"worse-4", "failed", "open"} <= looks
    assert len(squares) == len(document.glance.layers) * len(document.glance.platforms)
    rows = list(dict.fromkeys(layer for _, layer in squares))
    assert rows == [layer.words for layer in reversed(document.glance.layers)]
    heads = re.findall(r'<th scope="col" class="c\d+ first">.*?<span>(.*?)</span>', verdict)
    assert heads == ["vm-e1000", "vm-virtio"], "platforms in the order of their losses"


def test_a_strip_chooses_among_the_probes_of_its_layer(page: str) -> None:
    mpi = page[page.index('<section id="layer-mpi"') :]
    mpi = mpi[: mpi.index("</section>")]
    assert mpi.count('class="strip"') == 1, "all platforms share a strip"
    led = set(re.findall(r'<td class="c\d+ [^"]*" data-tip="[^"]*"[^>]*><a href="#(.*?)">', mpi))
    probes = set(re.findall(r'<div class="probe" id="(.*?)"', mpi))
    assert led == probes == {"probe-mpi-pingpong", "probe-mpi-allreduce"}
    assert re.findall(r'<div class="probe" id="(.*?)" data-worst', mpi) == ["probe-mpi-pingpong"]


def test_what_was_corrected_is_told_from_what_was_done(page: str, document: Document) -> None:
    assert document.glance is not None
    tested = document.comparison.table.get_column("verdict").len()
    assert "Holm's correction within a probe" not in html.unescape(page)
    words = words_of(page)
    found = re.search(r"false discovery rate over (\d+) points", words)
    assert found and 0 < int(found[1]) <= tested
    assert re.search(
        r"With 95 % confidence, all differences called certain are true at once: .*[1-9]\d* points",
        words,
    )


def test_ids_are_unique_and_every_link_arrives(page: str) -> None:
    outline = Outline(page)
    assert len(set(outline.ids)) == len(outline.ids)
    for link in outline.links:
        assert link.startswith("data:") or link[1:] in outline.ids


def test_nothing_is_fetched(page: str) -> None:
    assert "default-src 'none'" in html.unescape(page)
    markup = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    outside = re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?!#|data:)([^\"'\s)>]+)", markup)
    assert outside == []


def test_previews_of_links_have_words_and_where_the_address_is_known_a_picture(
    page: str, document: Document, tmp_path: Path
) -> None:
    assert document.glance is not None
    (told,) = re.findall('<meta property="og:description" content="([^"]+)">', page)
    assert document.glance.headline.clauses[0].text[1:40] in html.unescape(told)
    assert len(told) < 400 and "og:image" not in page
    address = "https://example.org/runs/planted.html"
    file = write_report(document, tmp_path / "report.html", address=address)
    assert 'property="og:image" content="https://example.org/runs/planted.png"' in file.read_text()
    picture = (tmp_path / "planted.png").read_bytes()
    # What a picture is, and its size, stand at the beginning of it.
    assert picture.startswith(b"\x89PNG")
    size = [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)]
    assert size == [1200, 630]


def test_every_platform_is_glossed_before_the_verdict(planted: Callable[..., Document]) -> None:
    titles = ("no hypervisor", "virtio, MTU 9000", "")
    page = render_page(planted(titles=titles))
    (who,) = re.findall('<ul class="who".*?</ul>', page, re.DOTALL)
    assert page.index(who) < page.index('id="verdict"')
    rows = re.findall("<li>.*?</li>", who)
    words = [" ".join(re.sub("<[^>]+>", "", row).split()) for row in rows]
    # One without a title says what differs.
    told = ["bare no hypervisor, the baseline", "vm-virtio virtio, MTU 9000", "vm-e1000 MTU 65536"]
    assert words == told


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
    table = saved(page, "comparison.csv")
    assert table.height == document.comparison.table.height
    assert table["ratio"].to_list() == pytest.approx(document.comparison.table["ratio"].to_list())
    samples = saved(page, "samples.csv")
    assert samples.height == document.samples.height
    assert samples["value"].to_list() == pytest.approx(document.samples["value"].to_list())
    assert "Too large for a page" not in page


def saved(page: str, name: str) -> pl.DataFrame:
    """Read a table that a page offers to save."""
    found = re.search(rf'download="{re.escape(name)}(\.gz)?" href="data:[^,]+,([^"]+)"', page)
    assert found, name
    content = base64.b64decode(found[2])
    return pl.read_csv(
        io.BytesIO(gzip.decompress(content) if found[1] else content), infer_schema_length=None
    )


def test_raw_data_that_is_too_large_is_named_instead(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bareline.report.page.drawing._EMBEDDED_BYTES", 20_000)
    page = render_page(document)
    told = re.search(r"Too large for a page: ([a-z., ]+);", page)
    assert told
    names = told[1].split(", ")
    assert "samples.csv" in names and "comparison.csv" not in names
    assert not [name for name in names if f'download="{name}' in page]


def test_a_long_table_is_cut_and_says_so(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bareline.report.page.drawing._MOST_ROWS", 3)
    page = render_page(document)
    told = re.search(r"The first 3 rows of (\d+); the CSV contains all of them", page)
    assert told
    tables = re.findall(r'<table class="data">(.*?)</table>', page, re.DOTALL)
    assert all(table.partition("<tbody>")[2].partition("</tbody>")[0].count("<tr") <= 3
               for table in tables)  # fmt: skip
    figure = page[told.end() :].partition("</figure>")[0]
    csv = re.search(r'download="([^"]+?)(?:\.gz)?" href="[^"]+" aria-label="CSV of', figure)
    assert csv
    assert saved(page, csv[1]).height == int(told[1])


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
    assert "fewer than 6 trials: no interval and no verdict" in words_of(page)


def test_a_probe_that_always_failed_still_has_its_place(
    planted: Callable[..., Document],
) -> None:
    document = planted(("bare", "vm"), probes=("memory.stream", "compute.dgemm"))
    gone = document.summary.filter(pl.col("probe") != "memory.stream")
    assert document.points is not None
    silent = document.points.with_columns(
        pl.when(pl.col("probe") == "memory.stream").then(None).otherwise("value").alias("value")
    )
    page = render_page(seen_as(document, summary=gone, points=silent))
    assert 'id="probe-memory-stream"' in page
    assert "No platform gave a number" in words_of(page)


def test_declared_exhibits_replace_the_defaults(document: Document) -> None:
    specs = [
        ExhibitSpec(kind="trials", probe="net.nuttcp", metric="rate", title="Trials"),
        ExhibitSpec(kind="curve", probe="absent", title="Nowhere"),
    ]
    page = render_page(replace(document, exhibits=specs))
    assert 'id="overview"' in page and "<h4>Trials <a" in page
    assert "mpi-pingpong" not in page.split("Exhibits without data")[0]
    assert "Nowhere" in page.split("Exhibits without data")[1]


def test_an_unknown_kind_is_one_clear_error(document: Document, tmp_path: Path) -> None:
    wrong = replace(document, exhibits=[ExhibitSpec(kind="pie")])
    with raises(AnalysisError, "BL-REPORT-612", "pie"):
        write_report(wrong, tmp_path / "x.html")


def test_a_page_that_cannot_be_written_is_one_clear_error(
    planted: Callable[..., Document], tmp_path: Path
) -> None:
    document = planted(("bare",), probes=("compute.dgemm",), broken=False)
    (tmp_path / "file").write_text("in the way")
    with raises(StoreError, "BL-REPORT-449"):
        write_report(document, tmp_path / "file" / "page.html")


def test_markdown_says_what_the_page_says(document: Document, tmp_path: Path) -> None:
    file = write_report(document, tmp_path / "report.md", "md", tmp_path / "figures")
    text = file.read_text(encoding="utf-8")
    assert document.glance is not None
    lines = text.splitlines()
    assert lines[0] == "# Planted differences"
    assert lines[2].startswith("vm-virtio and vm-e1000 compared with bare")
    assert "| Memory |" in text and "✗ failed" in text
    assert "times slower**" in text
    assert "![" in text and "](<figures/overview.svg>)" in text
    assert "nuttcp: connection refused" in text
    tables = [line for line in lines if line.startswith("|")]
    assert len(tables) > 100
    results = lines[lines.index("## Compute") :]
    widths = {line.count(" | ") for line in results if line.startswith("| vm-virtio |")}
    assert widths and min(widths) > 3


def test_markdown_escapes_names(hostile: Document, tmp_path: Path) -> None:
    file = write_report(hostile, tmp_path / "report.md", "md")
    assert "<script>" not in file.read_text(encoding="utf-8")


@pytest.mark.browser
@pytest.mark.skipif(find_browser() is None, reason="no chromium: apt-get install chromium")
def test_the_report_is_printed_as_pdf(planted: Callable[..., Document], tmp_path: Path) -> None:
    document = planted(("bare", "vm"), probes=("compute.dgemm",), broken=False)
    file = write_report(document, tmp_path / "report.pdf", "pdf")
    content = file.read_bytes()
    assert content.startswith(b"%PDF") and len(content) > 20_000


def test_a_pdf_without_chromium_is_one_clear_error(
    document: Document, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with raises(StoreError, "BL-REPORT-509"):
        write_report(document, tmp_path / "report.pdf", "pdf")


def test_two_dates_of_a_platform_are_compared_with_their_own_marks(
    plant_run: Callable[..., Run], tmp_path: Path
) -> None:
    runs = [
        plant_run(tmp_path / name, ("bare",), seed=seed, broken=False, probes=("compute.dgemm",))
        for name, seed in (("march", 1), ("october", 2))
    ]
    document = document_of(Comparison(read_runs(runs), "bare@march", None))
    page = render_page(document)
    assert document.names == ("bare@march", "bare@october")
    assert page.count('<symbol id="mark-') == 2
    told = page[page.index("<h3>Runs</h3>") :]
    assert "march" in told and "october" in told
    assert "not in common blocks" in words_of(page), "another day is no common block"


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
    assert len(render_page(document)) < 5_000_000


def test_a_value_takes_little_of_a_page(planted: Callable[..., Document]) -> None:
    """A campaign of predictions has thousands: six platforms, many curves, six launches."""
    names = tuple(f"platform-{number}" for number in range(6))
    document = planted(
        names, blocks=6, broken=False, probes=("mpi.allreduce",), ranks=tuple(range(2, 14))
    )
    page = render_page(document)
    shown = [cell for cell in document.cells if not cell.metric.detail]
    assert len(shown) == 12 * 10 * 6 and not document.shown.notes
    fixed = len(render_page(planted(names, blocks=6, broken=False, probes=("compute.dgemm",))))
    assert (len(page) - fixed) / len(shown) < 1_800


@pytest.mark.slow
def test_a_run_of_very_many_points_gives_a_moderate_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_at_scale, "RANKS", 240)
    monkeypatch.setattr(store_at_scale, "LAUNCHES", 6)
    written = store_at_scale.plant(tmp_path / "run", 1)
    comparison = Comparison(read_runs([Run.open(tmp_path / "run")]))
    assert comparison.table.height == 240 * 16 and written == 2 * 6 * 240 * 16
    document = document_of(comparison)
    page = render_page(document)
    assert len(page) < 5_000_000
    text = words_of(page)
    assert re.search(r"of 3840 points are shown: \d+ of 240 values of rank, evenly", text)
    assert "and those that differ most. Verdicts rest on all of them." in text
    farthest = comparison.table.sort("ratio", descending=True).get_column("point")[0]
    assert farthest in {cell.place.point for cell in document.cells}


def terms_linked(page: str) -> list[tuple[str, str]]:
    """Return the terms that a page links, each with its word, in order."""
    return re.findall(r'<a class="term" href="#term-([a-z0-9-]+)">([^<]+)</a>', page)


def test_every_section_explains_its_terms_where_they_first_stand(page: str) -> None:
    parts = re.split(r'<section id="([a-z-]+)">', page)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert not terms_linked(parts[0]) and not terms_linked(sections["glossary"])
    explained = {name: [term for term, _ in terms_linked(text)] for name, text in sections.items()}
    assert {"launch", "interval", "false-discovery-rate"} <= set(explained["verdict"])
    assert {"trial", "block", "ratio"} <= set(explained["method"])
    for name, text in sections.items():
        shown = re.sub(r"<details.*?</details>", "", text, flags=re.DOTALL)
        terms = [term for term, _ in terms_linked(shown)]
        assert len(terms) == len(set(terms)), name


def test_links_to_terms_change_nothing_but_words(page: str) -> None:
    """Without its links the page is what the template gave: no tag, code or drawing has any."""
    plain = re.sub(r'<a class="term" href="#term-[a-z0-9-]+">([^<]+)</a>', r"\1", page)
    assert 'class="term"' not in plain
    for kind in ("a", "button", "code", "svg", "table", "script", "style", "h2", "h3", "h4"):
        for element in re.findall(rf"<{kind}\b.*?</{kind}>", page, re.DOTALL):
            assert element.count('class="term"') == element.startswith('<a class="term"')
    assert words_of(page) == words_of(plain)


def test_titles_of_axes_name_their_terms(page: str) -> None:
    titles = re.findall(r'<text\b[^>]*data-term="term-([a-z0-9-]+)"[^>]*>([^<]*)<', page)
    assert {"bandwidth", "latency", "message-size"} <= {term for term, _ in titles}
    assert all(term.split("-")[0] in title.lower() for term, title in titles)
    ids = Outline(page).ids
    assert all(f"term-{term}" in ids for term, _ in titles)


def test_names_are_never_taken_for_terms() -> None:
    page = (
        '<main><section id="x"><p title="rank">&lt;n&gt; mpi.latency, sub-trial, '
        '<code>rank</code> <span class="name">block</span> N = 3, <b>n = 3</b> ranks</p>'
        "<details><summary>trial</summary><p>trial</p></details><p>trials of n</p></section>"
        '<section id="glossary"></section></main>'
    )
    assert terms_linked(link_terms(page)) == [
        ("n", "n"), ("rank", "ranks"), ("trial", "trial"), ("trial", "trials"),
    ]  # fmt: skip


def test_the_page_says_that_rates_of_npb_are_nominal(planted: Callable[..., Document]) -> None:
    assert "Rates are nominal" in render_page(planted(("bare", "net"), probes=("npb.cg",)))
    assert "Rates are nominal" not in render_page(
        planted(("bare", "net"), probes=("compute.dgemm",))
    )


def test_a_table_under_a_drawing_of_half_the_width_is_folded(document: Document) -> None:
    (bars,) = find_exhibit("bars").figures(
        document, ExhibitSpec(kind="bars", probe="compute.dgemm")
    )
    assert draw_figure(bars).open
    assert not draw_figure(replace(bars, wide=False)).open


def test_rows_of_figures_have_two_lines_on_a_phone(document: Document) -> None:
    (table,) = find_exhibit("table").figures(
        document, ExhibitSpec(kind="table", probe="net.nuttcp")
    )
    drawn = draw_figure(table).table
    assert drawn is not None
    assert drawn.folds == 4, "seven columns"
    few = replace(drawn.table, columns=drawn.table.columns[:4])
    assert replace(drawn, table=few).folds == 0
