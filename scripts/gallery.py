#!/usr/bin/env python3
"""Pictures of the gallery: parts of the pages of runs of the published studies.

::

    scripts/gallery.py --measure runs/gallery
    scripts/gallery.py runs/gallery/nebula runs/gallery/magellan

The first command measures the four published studies at scale small and draws them; the second
draws runs that are there. A run of ``quick``, such as `make demo` makes, gives the verdict.

Each run gives ``docs/gallery/images/<study>-<name>.png`` for the parts named in `PARTS` that its
page has; a missing part is named. The table of runs in ``docs/gallery/README.md`` receives when
each study was measured, how often, how busy the machine was, and the commit that drew its page;
the line below each picture receives the date and the commit.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from playwright.sync_api import Page, sync_playwright

from bareline.analysis.numbers.records import Records, read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.cli.output import EXIT_TRIALS_FAILED
from bareline.report.content.document import document_of
from bareline.report.page.html import render_page
from bareline.store.run import Run
from bareline.vocabulary.place import CASE

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
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
#: Opens the folded parents of a part, and prints wide tables whole.
_UNFOLD = """
part => {
    for (let above = part.parentElement; above; above = above.parentElement) {
        above.hidden = false;
        if (above.classList.contains("scroll"))
            Object.assign(above.style, {overflow: "visible", background: "none"});
        if (above.tagName === "DETAILS") above.open = true;
    }
}
"""
#: How many pixels of a part's tables lie outside of what scrolls.
_LACKING = """
part => Math.max(0, ...[part.closest(".scroll"), ...part.querySelectorAll(".scroll")]
    .filter(Boolean).map(shown => shown.scrollWidth - shown.clientWidth))
"""

#: The studies that repeat publications.
PUBLISHED = ("nebula", "flexible-fabric", "magellan", "infinicloud")
#: Name of each picture, and its place on the page.
PARTS: dict[str, dict[str, str]] = {
    "quick": {"verdict": "#verdict"},
    "nebula": {
        "verdict": "#verdict table",
        "instance-types": "[id^=instance-types]",
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


#: The line below a picture, which this program writes.
_CAPTION = re.compile(r"(!\[[^]]*\]\(images/([\w-]+)\.png\)\n)(?:\n_Measured [^_]*_\n)?")


@dataclass(frozen=True, slots=True)
class Measured:
    """What the gallery prints of a run: when, how often and how undisturbed it was measured."""

    study: str
    date: str
    launches: str
    trials: str
    busy_percent: float
    commit: str

    @classmethod
    def of(cls, records: Records) -> Measured:
        """Return a run's date, launches and trials."""
        trials = records.trials
        measured = trials.filter(pl.col("status") == "measured")
        counts = measured.group_by("platform", *CASE).len().get_column("len").to_list()
        fewest = min(counts, default=0)
        most = max(counts, default=0)
        busy = trials.get_column("caveats").list.contains("busy-machine").fill_null(False)
        failed = trials.height - measured.height
        return cls(
            study=str(records.study["name"]),
            date=records.runs[0].header.created[:10],
            launches=f"{fewest}" if fewest == most else f"{fewest} to {most}",
            trials=f"{trials.height}, {failed} failed" if failed else f"{trials.height}",
            busy_percent=100 * float(busy.sum()) / trials.height,
            commit=commit_of_this_code(),
        )

    @property
    def row(self) -> str:
        """The run's row in the table of the gallery."""
        busy = f"{self.busy_percent:.0f} %"
        cells = [self.study, self.date, self.launches, self.trials, busy, f"`{self.commit}`"]
        return f"| {' | '.join(cells)} |"

    @property
    def caption(self) -> str:
        """The line below its pictures."""
        return f"_Measured {self.date} at scale small, drawn by commit `{self.commit}`._"


def commit_of_this_code() -> str:
    """Return the short hash of the commit whose code draws the pictures."""
    command = ["git", "-C", str(ROOT), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def with_row(text: str, study: str, row: str) -> str:
    """Return the gallery's page with a row of the table of runs in the place of its study's."""
    table = _RUNS.search(text)
    if table is None:
        sys.exit(f"gallery: {GALLERY / 'README.md'} has no table of runs")
    lines = table[0].splitlines()
    studies = [line.split("|")[1].strip() for line in lines]
    place = studies.index(study) if study in studies else len(lines)
    lines[place : place + 1] = [row]
    return text[: table.start()] + "\n".join([*lines, ""]) + text[table.end() :]


def with_captions(text: str, pictures: set[str], caption: str) -> str:
    """Return a page of the gallery with a line below each of some pictures."""

    def captioned(match: re.Match[str]) -> str:
        return f"{match[1]}\n{caption}\n" if match[2] in pictures else match[0]

    return _CAPTION.sub(captioned, text)


def take(page: Page, run: Path, folder: Path) -> None:
    """Write the pictures of one run, and how it was measured."""
    records = read_runs([Run.open(run)])
    measured = Measured.of(records)
    study = measured.study
    file = folder / f"{study}.html"
    file.write_text(render_page(document_of(Comparison(records))), encoding="utf-8")
    page.goto(file.as_uri())
    page.evaluate(_WHOLE_WINDOW)
    pictures = set()
    for name, selector in PARTS[study].items():
        if take_part(page, selector, IMAGES / f"{study}-{name}.png"):
            pictures.add(f"{study}-{name}")
        else:
            print(f"{study}: the page has no {name} ({selector})", file=sys.stderr)
    rewrite(GALLERY / "README.md", lambda text: with_row(text, study, measured.row))
    if study in PUBLISHED:
        about = GALLERY / f"{study}.md"
        rewrite(about, lambda text: with_captions(text, pictures, measured.caption))


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Replace a file's text."""
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def take_part(page: Page, selector: str, picture: Path) -> bool:
    """Write a picture of a part of the page, as wide as it needs; return whether there is one."""
    page.set_viewport_size({"width": WIDTH, "height": 1200})
    part = page.locator(selector).first
    if not part.count():
        return False
    part.evaluate(_UNFOLD)
    lacking = part.evaluate(_LACKING)
    page.set_viewport_size({"width": WIDTH + lacking, "height": 1200})
    part.screenshot(path=picture)
    print(picture)
    return True


def measure(folder: Path) -> list[Path]:
    """Measure the published studies at scale small; return their runs, those there included."""
    runs = []
    for study in PUBLISHED:
        run = folder / study
        if not run.exists():
            command = ["bareline", "run", study, "--scale", "small", "--yes", "--out", str(run)]
            ended = subprocess.run([sys.executable, "-m", *command], check=False)
            # A page shows failed trials; the table of runs counts them.
            if ended.returncode not in (0, EXIT_TRIALS_FAILED):
                sys.exit(f"gallery: {shlex.join(command)} ended with {ended.returncode}")
        runs.append(run)
    return runs


def main() -> None:
    """Take the pictures of all runs that are named, or that are measured first."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("runs", type=Path, nargs="*", metavar="RUN")
    parser.add_argument("--measure", type=Path, metavar="FOLDER", help="measure the studies first")
    given = parser.parse_args()
    runs = given.runs + (measure(given.measure) if given.measure else [])
    if not runs:
        parser.error("name runs, or a folder with --measure")
    IMAGES.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": WIDTH, "height": 1200})
        for run in runs:
            take(page, run, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
