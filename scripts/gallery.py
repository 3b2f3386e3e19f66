"""Pictures of the gallery: parts of the pages of runs of the published studies.

::

    for study in nebula flexible-fabric magellan infinicloud; do
        bareline run $study --scale small --yes --out runs/gallery/$study
    done
    .venv/bin/python scripts/gallery.py runs/gallery/*

Of a run of ``quick``, such as `make demo` makes, it takes the verdict.

Each run gives ``docs/gallery/images/<study>-<name>.png`` for the parts named in `PARTS` that its
page has; what it lacks is said. The table of runs in ``docs/gallery/README.md`` then says of each
study when it was measured, how often, and how busy the machine was.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import polars as pl
from playwright.sync_api import Page, sync_playwright

from bareline.analysis.numbers.records import Records, read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.content.document import document_of
from bareline.report.page.html import render_page
from bareline.store.run import Run
from bareline.vocabulary.place import CASE

GALLERY = Path(__file__).parents[1] / "docs" / "gallery"
IMAGES = GALLERY / "images"
_RUNS = re.compile(r"(?<=<!-- runs: begin -->\n).*(?=<!-- runs: end -->)", re.DOTALL)
#: Width of the window in pixels; it grows by what a table lacks.
WIDTH = 960
#: The page is as wide as the window, however wide that is, and has no index beside it.
_WHOLE_WINDOW = """
() => {
    Object.assign(document.body.style, {display: "block", maxWidth: "none"});
    document.querySelector("nav")?.remove();
}
"""
#: How many pixels of a part's tables lie outside of what scrolls.
_LACKING = """
part => Math.max(0, ...[part.closest(".scroll"), ...part.querySelectorAll(".scroll")]
    .filter(Boolean).map(shown => shown.scrollWidth - shown.clientWidth))
"""

#: Name of each picture, and where it stands on the page.
PARTS: dict[str, dict[str, str]] = {
    "quick": {"verdict": "#verdict"},
    "nebula": {
        "verdict": "#verdict table",
        "steps": "[id^=steps-net-nuttcp]",
        "factors": "[id^=factors-mpi-ring]",
        "allreduce": "[id^=curve-mpi-allreduce]",
        "suitability": "[id^=suitability]",
    },
    "flexible-fabric": {
        "trials": "[id^=trials-net-nuttcp]",
        "latency": "[id^=curve-mpi-pingpong-latency-mpi-latency-osu]",
        "characteristics": "[id^=characteristics]",
    },
    "magellan": {
        "verdict": "#verdict table",
        "lattice": "[id^=relative-performance-app-lattice]",
        "alltoall": "[id^=curve-mpi-alltoall]",
    },
    "infinicloud": {
        "factors": "[id^=factors-net]",
        "linpack": "[id^=pairs-compute-linpack-rate]",
        "pingpong": "[id^=curve-mpi-pingpong]",
        "files": "[id^=pairs-io-create]",
    },
}


def told(records: Records) -> str:
    """Return a run's row: study, date, launches, trials, how busy the machine was."""
    trials = records.trials
    measured = trials.filter(pl.col("status") == "measured")
    counts = measured.group_by("platform", *CASE).len().get_column("len")
    busy = trials.get_column("caveats").list.contains("busy-machine").fill_null(False)
    fewest, most = counts.min(), counts.max()
    launches = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    count = f"{trials.height}"
    if failed := trials.height - measured.height:
        count += f", {failed} failed"
    date = records.runs[0].header.created[:10]
    share = f"{100 * busy.sum() / trials.height:.0f} %"
    return f"| {records.study['name']} | {date} | {launches} | {count} | {share} |"


def with_row(text: str, row: str) -> str:
    """Return the gallery's page with a row of the table of runs in the place of its study's."""
    found = _RUNS.search(text)
    if found is None:
        sys.exit(f"gallery: {GALLERY / 'README.md'} has no table of runs")
    study = row.split("|")[1]
    lines = found[0].splitlines()
    at = next((n for n, line in enumerate(lines) if line.split("|")[1:2] == [study]), len(lines))
    lines[at : at + 1] = [row]
    return text[: found.start()] + "\n".join([*lines, ""]) + text[found.end() :]


def take(page: Page, run: Path, folder: Path) -> None:
    """Write the pictures of one run, and how it was measured."""
    opened = Run.open(run)
    records = read_runs([opened])
    study = str(records.study["name"])
    file = folder / f"{study}.html"
    file.write_text(render_page(document_of(Comparison(records))), encoding="utf-8")
    readme = GALLERY / "README.md"
    readme.write_text(with_row(readme.read_text(encoding="utf-8"), told(records)), encoding="utf-8")
    page.goto(file.as_uri())
    page.evaluate(_WHOLE_WINDOW)
    page.wait_for_timeout(500)
    for name, selector in PARTS[study].items():
        page.set_viewport_size({"width": WIDTH, "height": 1200})
        found = page.locator(selector).first
        if not found.count():
            print(f"{study}: the page has no {name} ({selector})", file=sys.stderr)
            continue
        lacking = found.evaluate(_LACKING)
        page.set_viewport_size({"width": WIDTH + lacking, "height": 1200})
        picture = IMAGES / f"{study}-{name}.png"
        found.screenshot(path=picture)
        print(picture)


def main() -> None:
    """Take the pictures of all runs that are named."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 1200})
        for run in sys.argv[1:]:
            take(page, Path(run), Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
