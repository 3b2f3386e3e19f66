"""A report without the extra ``figures``: tables, verdicts, and how to get drawings."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bareline.report.figures import marks
from bareline.report.figures.drawing_available import drawing_obstacle
from bareline.report.figures.scales import Ticks

RUN = Path(__file__).parents[2] / "data" / "runs-0.1.0" / "planted"
STEP = "pip install 'bareline[figures]'"
#: As if they were not installed: Python refuses to import what stands so in `sys.modules`.
PROGRAM = """
import sys
for name in ("altair", "vl_convert", "narwhals", "jsonschema", "scipy"):
    sys.modules[name] = None
from bareline.cli.main import main
main()
"""


@pytest.fixture
def without(tmp_path):
    """Run the command line without what draws."""
    shutil.copytree(RUN, tmp_path / "run")

    def go(*arguments):
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip

    return go


def test_the_page_has_its_tables_and_says_how_to_get_figures(without, tmp_path):
    done = without("report", "run")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1 and STEP in done.stderr
    page = (tmp_path / "run" / "report.html").read_text()
    assert page.count("<table") > 3 and 'id="verdict"' in page
    assert "vl-convert-python is not installed" in page
    assert 'class="panels' not in page


def test_what_asks_for_files_of_figures_is_refused_with_the_next_step(without, tmp_path):
    done = without("report", "run", "--figures", "drawn")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and STEP in done.stderr
    assert not (tmp_path / "drawn").exists()


@pytest.mark.slow
def test_every_exhibit_is_put_together_without_charts(tmp_path):
    """The contract of exhibits, with planted runs, holds for titles and tables all the same."""
    # Beside what pytest's own plug-ins have imported by then, this needs a process of its own.
    program = PROGRAM.replace(
        "from bareline.cli.main import main\nmain()",
        "import pytest; sys.exit(pytest.main(sys.argv[1:]))",
    )
    contract = Path(__file__).parents[1] / "exhibits" / "test_contract.py"
    arguments = ["-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", str(contract)]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr


def test_an_interval_that_is_open_above_ends_where_its_axis_does():
    up = marks.y_axis(Ticks((0, 2), (1,), ("1",)))
    assert marks.intervals([{"lo": 1, "hi": None}], up) == [{"y": 1, "lo": 1, "hi": 2}]


def test_nothing_keeps_figures_from_being_drawn_where_the_extra_is_installed():
    assert drawing_obstacle() is None
