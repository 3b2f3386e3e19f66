"""The page of formats counts the files of the test data."""

import importlib.util
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "scripts" / "formats.py"


def test_the_page_of_formats_is_that_of_the_test_data():
    spec = importlib.util.spec_from_file_location("formats_page", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = module.PAGE.read_text(encoding="utf-8")
    assert page == module.page(), "run scripts/formats.py"
