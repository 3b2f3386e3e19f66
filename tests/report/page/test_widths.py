"""The page at the size of a publication, on a screen and on a phone: nothing of it is cut."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.content.document import document_of
from bareline.report.page.files import write_report
from bareline.vocabulary.exhibit import ExhibitSpec

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[3]
WIDTHS = (1280, 390)
#: One or two of a layer: of all of them the page takes 25 s of a processor.
PROBES = (
    "net.nuttcp", "hpcc", "compute.dgemm", "memory.stream", "mpi.ring", "mpi.exchange",
    "mpi.allreduce", "io.sequential", "npb.cg", "app.overset", "app.ocean",
)  # fmt: skip
#: Pixels that letters may reach over a drawing's edge, which is not clipped there.
EDGE = 4

#: Unfolds everything, and waits until what is packed has its rows.
UNFOLD = """async () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
  for (const probe of document.querySelectorAll(".probe[hidden]")) probe.hidden = false;
  while (document.querySelector("tbody[data-packed]")) await new Promise((r) => setTimeout(r, 20));
}"""
#: Heads of columns that reach out of the box in which their table scrolls.
CUT = """() => [...document.querySelectorAll("table")].flatMap((table) => {
  const box = table.closest(".scroll") || document.documentElement;
  const right = Math.min(box.getBoundingClientRect().right, innerWidth);
  return [...table.querySelectorAll("thead th")].filter((head) =>
    /verdict|publish|printed/i.test(head.textContent) &&
    head.getBoundingClientRect().right > right + 1
  ).map((head) => `${table.closest("[id]").id}: ${head.textContent}`);
})"""
#: Texts that reach out of their drawing, or end in three dots.
OUTSIDE = """(edge) => [...document.querySelectorAll("figure svg[role=img]")].flatMap((drawing) => {
  const box = drawing.getBoundingClientRect();
  return [...drawing.querySelectorAll("text")].filter((text) => {
    const own = text.getBoundingClientRect();
    return box.width && own.width && (text.textContent.includes("…") ||
      own.left < box.left - edge || own.right > box.right + edge ||
      own.top < box.top - edge || own.bottom > box.bottom + edge);
  }).map((text) => `${drawing.closest("figure").id}: ${text.textContent}`);
})"""
#: The most lines that a row of each table has.
LINES = """() => [...document.querySelectorAll("table.two")].map((table) =>
  Math.max(...[...table.tBodies[0].rows].map((row) =>
    new Set([...row.cells].map((cell) => Math.round(cell.getBoundingClientRect().top))).size)))"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page of Nebula's study on as many ranks, with one exhibit of each kind."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from planted_study import plant
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))
    folder = tmp_path_factory.mktemp("planted")
    run = plant("nebula", folder / "run", launches=6, usual=True, probes=PROBES)
    document = document_of(Comparison(read_runs([run])))
    first: dict[tuple[str, str | None], ExhibitSpec] = {}
    for spec in document.exhibits:
        if spec.probe is None or spec.probe in (*PROBES, "npb.*", "app.*"):
            # Two numbers of ranks stand for seven.
            where = spec.where if spec.x or spec.kind != "curve" else {"ranks": [2, 128]}
            first.setdefault((spec.kind, spec.x), spec.model_copy(update={"where": where}))
    exhibits = [*first.values(), ExhibitSpec(kind="trials", probe="net.nuttcp", metric="rate")]
    return write_report(replace(document, exhibits=exhibits), folder / "page.html")


@pytest.fixture(scope="module", params=WIDTHS)
def page(request: pytest.FixtureRequest, browser: Any, file: Path) -> Iterator[Any]:
    """Yield the page with everything unfolded, at each width."""
    context = browser.new_context(viewport={"width": request.param, "height": 900})
    seen = context.new_page()
    seen.goto(file.as_uri())
    seen.evaluate(UNFOLD)
    yield seen
    context.close()


def test_verdict_and_published_are_on_the_screen(page: Any) -> None:
    heads = page.locator("thead th").all_inner_texts()
    published = [head for head in heads if head in ("published ratio", "published loss (%)")]
    assert heads.count("verdict") > 5 and len(published) > 5
    if page.viewport_size["width"] == max(WIDTHS):
        assert page.evaluate(CUT) == []


def test_labels_lie_inside_their_figures(page: Any) -> None:
    assert page.locator("figure svg[role=img] text").count() > 200
    assert page.evaluate(OUTSIDE, EDGE) == []


def test_a_row_has_two_lines_on_a_phone_and_one_on_a_screen(page: Any) -> None:
    lines = page.evaluate(LINES)
    few = 2 if page.viewport_size["width"] == min(WIDTHS) else 1
    assert len(lines) > 8 and {*lines} == {few}
