"""The page in a real browser: what a reader sees, clicks and prints."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import polars as pl
import pytest

from bareline.report.content.document import Document
from bareline.report.content.waterfall import Waterfall, WaterfallBar
from bareline.report.exhibits.base import load_exhibits
from bareline.report.page.files import write_report
from bareline.vocabulary.exhibit import ExhibitSpec

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def file(document: Document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(document, tmp_path_factory.mktemp("page") / "page.html")


class Visit:
    """An open page that notes every complaint and every request."""

    def __init__(self, browser: "playwright.Browser", file: Path, **how: object) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(**how)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.route("**/*", self._note)
        self.page.goto(file.as_uri())

    def _note(self, route: "playwright.Route") -> None:
        if route.request.url.startswith("file:") and route.request.is_navigation_request():
            route.continue_()
        else:
            self.requests.append(route.request.url)
            route.abort()


@pytest.fixture
def visit(browser: "playwright.Browser", file: Path) -> Iterator[Callable[..., Visit]]:
    visits: list[Visit] = []

    def open_page(other: Path | None = None, **how: object) -> Visit:
        visits.append(Visit(browser, other or file, **how))
        return visits[-1]

    yield open_page
    for each in visits:
        each.context.close()


def test_it_opens_offline_without_complaint(visit: Callable[..., Visit]) -> None:
    seen = visit()
    seen.page.mouse.wheel(0, 4000)
    seen.page.wait_for_timeout(100)
    assert seen.complaints == []
    assert seen.requests == []


def test_every_figure_is_drawn(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).page
    page.evaluate("document.querySelectorAll('.probe').forEach((one) => { one.hidden = false; })")
    drawings = page.locator("figure .panels:visible > svg[role=img]")
    # Of the three numbers of ranks of MPI_Allreduce one is drawn large, the others small.
    assert drawings.count() == 1 + 3 + 1 + 2
    for index in range(drawings.count()):
        drawing = drawings.nth(index)
        assert len(drawing.get_attribute("aria-label") or "") > 40
        marks = drawing.locator("[data-tip]")
        assert marks.count() >= 3
        box = drawing.bounding_box()
        assert box is not None and box["width"] > 250 and box["height"] > 60


@pytest.mark.parametrize("script", [True, False], ids=["script", "no-script"])
def test_ranks_are_chosen_by_keyboard_and_mouse(visit: Callable[..., Visit], script: bool) -> None:
    page = visit(java_script_enabled=script).page
    page.locator("#layer-mpi .strip th a", has_text="MPI_Allreduce").click()
    choice = page.locator("figure:has(.choice)").first
    large = choice.locator(".panels:visible > svg")

    def shown() -> str:
        assert large.count() == 1
        return large.get_attribute("aria-label") or ""

    assert choice.locator("label").all_inner_texts() == ["2 ranks", "4 ranks", "8 ranks"]
    assert choice.locator("input:checked").get_attribute("data-choice") == "8 ranks"
    whole = shown()
    choice.locator("input:checked").focus()
    page.keyboard.press("ArrowLeft")
    assert "4 ranks" in shown() != whole
    choice.locator("label").first.click()
    assert "2 ranks" in shown()
    # What is small shows the same drawing again, without its words.
    small = choice.locator("label svg use").nth(1)
    assert page.locator(str(small.get_attribute("href"))).count() == 1
    box = choice.locator("label svg").nth(1).bounding_box()
    assert box is not None and 60 < box["width"] < 260 and box["height"] > 60


def test_a_strip_shows_the_curve_that_is_chosen(visit: Callable[..., Visit], file: Path) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).page
    worst, other = page.locator("#probe-mpi-pingpong"), page.locator("#probe-mpi-allreduce")

    def drawn(probe: "playwright.Locator") -> bool:
        return bool(probe.evaluate("one => one.checkVisibility({contentVisibilityAuto: true})"
                                   " && !one.hidden"))  # fmt: skip

    assert drawn(worst) and not drawn(other), "the largest loss is shown at first"
    page.locator("#layer-mpi .strip td a[href='#probe-mpi-allreduce']").first.click()
    assert drawn(other) and not drawn(worst)
    chosen = page.locator("#layer-mpi .strip tr.chosen th").all_inner_texts()
    assert chosen == ["MPI_Allreduce"]
    page.evaluate("location.hash = 'probe-mpi-pingpong'")
    page.wait_for_function("!document.getElementById('probe-mpi-pingpong').hidden")
    assert not drawn(other)
    page.emulate_media(media="print")
    assert other.evaluate("one => getComputedStyle(one).contentVisibility") == "visible"


def test_the_first_screen_has_the_waterfall_beside_the_matrix_and_cards_on_a_phone(
    visit: Callable[..., Visit],
) -> None:
    page = visit(viewport={"width": 1280, "height": 900}).page
    matrix = page.locator(".matrix").bounding_box()
    assert matrix is not None and matrix["y"] + matrix["height"] < 700
    heads = page.locator(".glance thead th")
    tops = [heads.nth(at).bounding_box()["y"] for at in range(2)]  # type: ignore[index]
    assert tops[0] == tops[1]
    phone = visit(viewport={"width": 390, "height": 844}).page
    cards = phone.locator(".glance thead th")
    boxes = [cards.nth(at).bounding_box() for at in range(2)]
    assert boxes[0] is not None and boxes[1] is not None
    assert boxes[0]["x"] == boxes[1]["x"] and boxes[0]["y"] + 100 < boxes[1]["y"]
    layers = (
        phone.locator(".glance td")
        .nth(1)
        .evaluate("one => getComputedStyle(one, '::before').content")
    )
    assert layers == '"MPI"'


@pytest.mark.parametrize("width", [1280, 390])
def test_what_a_step_of_the_waterfall_is_of_is_read_in_lines_of_words(
    visit: Callable[..., Visit],
    document: Document,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    width: int,
) -> None:
    call = "MPI_Allreduce of 8 B, 1.1 times dearer"
    bars = (
        WaterfallBar("bare-pair", "296 ms", "", 0, 60, "base"),
        WaterfallBar("small collectives", "+0.05 (+0.03 to +0.13)", call, 60, 3, "more"),
        WaterfallBar("net-1g", "1.66", "", 0, 100, "own"),
    )
    steps = Waterfall(
        "Mini-app ocean, 2 ranks", document.names[-1], "1.66 times slower", bars, "it"
    )
    monkeypatch.setattr("bareline.report.page.html.waterfalls", lambda _: [steps])
    page = visit(
        write_report(document, tmp_path / "page.html"), viewport={"width": width, "height": 900}
    )
    rows = page.page.locator(".steps tr")
    assert call in rows.nth(1).inner_text()
    box = rows.nth(1).bounding_box()
    assert box is not None and box["height"] < 75 and box["x"] + box["width"] <= width


def column(page: "playwright.Page", table: str, index: int) -> list[str]:
    rows = page.locator(f"{table} tbody tr")
    return [rows.nth(i).locator("td").nth(index).inner_text().strip() for i in range(rows.count())]


def test_tables_sort_by_number_with_mouse_and_keyboard(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).page
    table = "#overview table"
    page.locator("#overview summary").click()
    head = page.locator(f"{table} th", has_text="ratio")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    shown = column(page, table, 2)
    numbers = [float(text.replace("\u202f", "")) for text in shown if text != "–"]
    assert numbers == sorted(numbers)
    assert len(set(numbers)) > 5
    assert shown[-1] == "–", "what is missing stands last"
    head.locator("button").press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    shown = column(page, table, 2)
    numbers = [float(text.replace("\u202f", "")) for text in shown if text != "–"]
    assert numbers == sorted(numbers, reverse=True)
    assert shown[-1] == "–"


def test_sizes_sort_as_sizes(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).page
    figure = "#curve-mpi-pingpong-latency"
    page.locator(f"{figure} summary").click()
    page.locator(f"{figure} th button").first.click()
    page.locator(f"{figure} th button").first.click()
    sizes = column(page, f"{figure} table", 0)
    assert sizes[:6] == ["4 MiB"] * 3 + ["2 MiB"] * 3
    assert sizes[-1] == "0 B"


def test_tooltips_tell_the_value(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).page
    mark = page.locator("#overview .panels:visible [data-tip]").first
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert tip.inner_text() == mark.get_attribute("data-tip")
    page.keyboard.press("Escape")
    assert not tip.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_reader(visit: Callable[..., Visit], scheme: str) -> None:
    page = visit(color_scheme=scheme).page
    colour = page.evaluate(
        """() => {
          const of = (node, what) => getComputedStyle(node)[what];
          const text = document.querySelector('figure svg[role=img] text');
          return {paper: of(document.body, 'backgroundColor'), ink: of(document.body, 'color'),
                  figure: of(text, 'fill')};
        }"""
    )

    def brightness(text: str) -> float:
        return sum(float(part) for part in text[text.index("(") + 1 : -1].split(",")[:3]) / 3

    assert (brightness(colour["paper"]) > 128) is (scheme == "light")
    assert (brightness(colour["ink"]) > 128) is (scheme == "dark")
    assert abs(brightness(colour["figure"]) - brightness(colour["paper"])) > 60


@pytest.mark.parametrize("width", [360, 768, 1024, 1920])
def test_the_page_never_scrolls_sideways(visit: Callable[..., Visit], width: int) -> None:
    page = visit(viewport={"width": width, "height": 740}).page
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.body.scrollWidth") <= width


def test_it_prints(visit: Callable[..., Visit]) -> None:
    page = visit().page
    printed = page.pdf(format="A4")
    assert printed.startswith(b"%PDF")
    assert 2 <= printed.count(b"/Type /Page\n") + printed.count(b"/Type /Page ") <= 30
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()


def test_the_first_screen_has_the_matrix_and_little_is_unfolded(
    visit: Callable[..., Visit],
) -> None:
    page = visit(viewport={"width": 1280, "height": 900}).page
    matrix = page.locator(".matrix").bounding_box()
    assert matrix is not None and matrix["y"] + matrix["height"] < 900
    told = page.evaluate("""() => [...document.querySelectorAll('main section p, main section li')]
        .filter((one) => one.checkVisibility() && !one.closest(
            '#gaps, #method, #glossary, .files, .platforms'))
        .map((one) => one.textContent).join(' ').split(/[.!?](?=\\s|$)/).length""")
    assert told < 25


def test_hostile_names_stay_text(
    visit: Callable[..., Visit], hostile: Document, tmp_path: Path
) -> None:
    seen = visit(
        write_report(hostile, tmp_path / "hostile.html"), viewport={"width": 360, "height": 740}
    )
    assert seen.page.evaluate("window.broken") is None
    names = seen.page.locator(".subtitle").inner_text()
    assert "<script>" in names and "{{7*7}}" in names
    assert seen.page.locator("figure svg[role=img]").count() > 5
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360
    assert seen.complaints == []
    assert seen.requests == []


def test_copied_tables_are_clean(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).page
    text = page.evaluate(
        """() => {
          const table = document.querySelector('#bars-net-nuttcp-rate table');
          getSelection().selectAllChildren(table);
          return getSelection().toString();
        }"""
    )
    lines = [line.split("\t") for line in text.strip().splitlines()]
    assert {len(line) for line in lines} == {7}
    assert float(lines[2][1])
    assert float(lines[2][1]) and float(lines[2][4])
    assert lines[2][6] == "8"


@pytest.fixture(scope="module")
def roles_file(in_roles: Document, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page with every kind of exhibit and published figures."""
    kinds = [
        *({"kind": kind} for kind in ("characteristics", "factors", "suitability")),
        {"kind": "trials", "probe": "net.nuttcp", "metric": "rate"},
        *({"kind": kind, "probe": "npb.*", "metric": "time"}
          for kind in ("scaling", "relative", "relative-performance", "degradation")),
        {"kind": "pairs", "probe": "memory.stream", "rule": "best-against-worst"},
        {"kind": "curve", "probe": "mpi.allreduce", "x": "size_bytes"},
        {"kind": "stacked", "probe": "npb.*"},
    ]  # fmt: skip
    known = load_exhibits()
    specs = [ExhibitSpec(**kind) for kind in kinds if kind["kind"] in known]
    document = replace(in_roles, exhibits=specs)
    return write_report(document, tmp_path_factory.mktemp("roles") / "page.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(
    visit: Callable[..., Visit], roles_file: Path, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe is not installed")
    page = visit(roles_file, color_scheme=scheme, viewport={"width": 1400, "height": 900}).page
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.evaluate(axe.AXE_FILE_PATH.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    serious = [
        (row["id"], row["impact"], [node["html"][:120] for node in row["nodes"][:3]])
        for row in found["violations"]
        if row["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert len(found["passes"]) > 10


def test_the_page_is_there_within_two_seconds(visit: Callable[..., Visit], file: Path) -> None:
    page = visit().page
    loaded_ms = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    assert loaded_ms < 2000
    assert file.stat().st_size < 5_000_000


@pytest.mark.parametrize(
    ("kind", "begins"), [("SVG", b"<svg"), ("PNG", b"\x89PNG"), ("CSV", b"platform,probe")]
)
def test_each_figure_can_be_saved_from_the_page(
    visit: Callable[..., Visit], kind: str, begins: bytes
) -> None:
    seen = visit(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    figure = seen.page.locator("#bars-memory-stream-triad")
    with seen.page.expect_download() as download:
        figure.locator(".files").get_by_text(kind, exact=True).click()
    path = Path(download.value.path())
    content = path.read_bytes()
    assert download.value.suggested_filename == f"bars-memory-stream-triad.{kind.lower()}"
    assert content.startswith(begins)
    if kind == "SVG":
        text = content.decode()
        assert "var(--" not in text and "#0072b2" in text and "memory.stream" in text
        assert "the interval is wider than the study asked for" in text
        ElementTree.fromstring(content)
    if kind == "CSV":
        rows = pl.read_csv(content)
        assert {"ratio", "ratio_lo", "unit", "n"} <= set(rows.columns)
    assert seen.complaints == []


def test_a_long_table_is_unpacked_when_it_is_unfolded(
    visit: Callable[..., Visit], planted: Callable[..., Document], tmp_path: Path
) -> None:
    names = tuple(f"platform-{number}" for number in range(5))
    document = planted(names, probes=("mpi.pingpong",), blocks=6, broken=False)
    file = write_report(document, tmp_path / "long.html")
    seen = visit(file, viewport={"width": 1400, "height": 900}, accept_downloads=True)
    figure = seen.page.locator("#curve-mpi-pingpong-latency")
    rows = figure.locator("tbody tr")
    assert rows.count() == 1 and "CSV contains them too" in (rows.text_content() or "")
    figure.locator("summary").click()
    rows.nth(1).wait_for()
    cells = [cell for cell in document.cells if cell.place.metric == "latency"]
    assert rows.count() == len(cells) == 24 * 5
    assert figure.locator("tbody tr:first-child td").all_inner_texts()[:2] == ["0 B", "platform-0"]
    assert figure.locator("tbody svg.mark use").count() == len(cells)
    head = figure.locator("th button").first
    head.click()
    head.click()
    assert column(seen.page, "#curve-mpi-pingpong-latency table", 0)[:6] == ["4 MiB"] * 5 + [
        "2 MiB"
    ]
    with seen.page.expect_download() as download:
        figure.locator(".files").get_by_text("CSV", exact=True).click()
    assert download.value.suggested_filename == "curve-mpi-pingpong-latency.csv"
    saved = pl.read_csv(Path(download.value.path()).read_bytes(), infer_schema_length=None)
    assert saved.height == len(cells)
    assert saved["value"].to_list() == pytest.approx([cell.median for cell in cells], rel=1e-6)
    assert seen.complaints == [] and seen.requests == []


def test_raw_data_is_saved_unpacked(visit: Callable[..., Visit], document: Document) -> None:
    seen = visit(accept_downloads=True)
    with seen.page.expect_download() as download:
        seen.page.locator(".downloads a", has_text="samples.csv").click()
    assert download.value.suggested_filename == "samples.csv"
    content = Path(download.value.path()).read_bytes()
    assert pl.read_csv(content, infer_schema_length=None).height == document.samples.height
    assert seen.complaints == [] and seen.requests == []


def test_a_published_ratio_leads_to_its_source(
    visit: Callable[..., Visit], roles_file: Path
) -> None:
    page = visit(roles_file, viewport={"width": 1400, "height": 900}).page
    links = page.locator("td a[href^='#published-']")
    assert links.count() > 3
    for index in range(links.count()):
        target = page.locator(links.nth(index).get_attribute("href") or "none")
        assert re.search("Nebula|NCCS", target.text_content() or "")
    # What is drawn names its sources by their numbers in the list: nobody has to hover.
    numbered = page.locator("figcaption a[href^='#published-']")
    assert numbered.count() > 0
    for index in range(numbered.count()):
        row = page.locator(numbered.nth(index).get_attribute("href") or "none")
        number = (row.locator("td").first.text_content() or "").strip()
        assert numbered.nth(index).inner_text() == f"[{number}]"
    page.evaluate("document.querySelectorAll('figure details').forEach((d) => { d.open = true; })")
    links.first.click()
    target = page.locator(links.first.get_attribute("href") or "")
    assert target.is_visible(), "the list of sources unfolds"


def test_heads_of_columns_are_explained(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 1400, "height": 900}).page
    head = page.locator("#bars-net-nuttcp-rate th button", has_text="ratio")
    head.hover()
    assert "Times worse than the baseline" in page.locator("#tip").inner_text()


def test_words_of_sentences_are_explained_by_mouse_and_keyboard(
    visit: Callable[..., Visit],
) -> None:
    seen = visit(viewport={"width": 1280, "height": 900})
    page, tip = seen.page, seen.page.locator("#tip")
    words = page.locator("#verdict a.term")
    assert words.count() >= 3
    word = words.first
    word.hover()
    explained = tip.inner_text()
    assert explained.lower().startswith((word.get_attribute("href") or "")[len("#term-") :][:4])
    page.mouse.move(0, 0)
    assert not tip.is_visible()
    page.locator("#verdict .headline").first.click()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a.term')"):
            break
    assert tip.is_visible()
    assert page.evaluate("document.activeElement.getAttribute('aria-describedby')") == "tip"
    box = tip.bounding_box()
    assert box is not None and box["x"] >= 0 and box["y"] >= 0
    page.keyboard.press("Escape")
    assert not tip.is_visible()
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash").startswith("#term-")
    assert seen.complaints == []


def test_a_finger_is_told_first_and_led_then(visit: Callable[..., Visit]) -> None:
    seen = visit(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page, tip = seen.page, seen.page.locator("#tip")
    word = page.locator("#verdict a.term").first
    word.scroll_into_view_if_needed()
    word.tap()
    assert tip.is_visible() and page.evaluate("location.hash") == ""
    box = tip.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    word.tap()
    assert page.evaluate("location.hash") == word.get_attribute("href")
    title = page.locator(".panels:visible [data-term]").first
    title.scroll_into_view_if_needed()
    title.tap(force=True)
    assert tip.is_visible(), "the word that was tapped before loses the focus, and hides nothing"
    assert seen.complaints == []


def test_titles_of_axes_are_explained(visit: Callable[..., Visit]) -> None:
    page = visit(viewport={"width": 1280, "height": 900}).page
    title = page.locator("#curve-mpi-pingpong-latency .panels:visible [data-term]").first
    title.scroll_into_view_if_needed()
    title.hover(force=True)
    term = (title.get_attribute("data-term") or "").removeprefix("term-").replace("-", " ")
    assert page.locator("#tip").inner_text().startswith(f"{term}: ")
