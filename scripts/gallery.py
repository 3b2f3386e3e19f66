"""Pictures of the gallery: parts of the pages of runs of the published studies.

::

    for study in nebula flexible-fabric magellan infinicloud; do
        bareline run $study --scale small --out runs/gallery/$study
    done
    .venv/bin/python scripts/gallery.py runs/gallery/*

Of a run of ``quick``, such as `make demo` makes, it takes the verdict.

Each run gives ``docs/gallery/images/<study>-<name>.png`` for the parts named in `PARTS` that its
page has; what it lacks is said.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from bareline.analysis.comparison import Comparison
from bareline.analysis.records import read_runs
from bareline.report.content.gather import document_of
from bareline.report.page.html import render_page
from bareline.store.run import Run

IMAGES = Path(__file__).parents[1] / "docs" / "gallery" / "images"
#: Width of the window in pixels; tables of many columns need more.
WIDTH, WIDE = 960, 1700
_TABLES = ("trials", "characteristics", "factors", "steps")

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


def take(page: Page, run: Path, folder: Path) -> None:
    """Write the pictures of one run."""
    opened = Run.open(run)
    study = str(opened.header.study["study"]["name"])
    file = folder / f"{study}.html"
    file.write_text(render_page(document_of(Comparison(read_runs([opened])))), encoding="utf-8")
    page.goto(file.as_uri())
    page.wait_for_timeout(500)
    for name, selector in PARTS[study].items():
        page.set_viewport_size({"width": WIDE if name in _TABLES else WIDTH, "height": 1200})
        found = page.locator(selector).first
        if not found.count():
            print(f"{study}: the page has no {name} ({selector})", file=sys.stderr)
            continue
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
