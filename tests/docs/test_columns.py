"""The tables of columns in the reference are those of the rows' declarations."""

import importlib.util
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _columns():
    spec = importlib.util.spec_from_file_location("columns", ROOT / "scripts" / "columns.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_written_from_the_declarations():
    columns = _columns()
    text = columns.PAGE.read_text()
    assert columns.page(text) == text, "run scripts/columns.py"
    for name in ("compare", "show", "explain", "explain-why-not"):
        assert f"<!-- columns: {name} -->\n\n" in text


def test_a_column_has_its_type_and_what_its_docstring_says_of_it():
    table = _columns().tables("compare")
    assert re.search(r"\| `(\w+`, `)*base_tried` \| integer \| [^|]*launches", table)
    assert re.search(r"\| `p_adjusted` \| number or null \| [^|]*false discovery rate", table)
    kinds = _columns().tables("explain")
    assert kinds.count("| column | type | meaning |") == 5 and "`class`, `title`" in kinds
