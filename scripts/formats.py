#!/usr/bin/env python3
"""Write docs/reference/formats.md: each importer with the versions and files of the test data."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from bareline.formats.files import read_file
from bareline.formats.importer import load_importers
from bareline.vocabulary.errors import BarelineError

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "formats.md"
DATA = ROOT / "tests" / "formats"
HEAD = """# Formats that `import` reads

This page is for users who want to know which outputs `bareline import` was tested with.
It lists each format with the number of files and trials of the test data in which it was seen,
and with the versions that the outputs print.
[Import existing outputs](../how-to/import.md) describes the result of an import.
Formats of the package `bareline-contrib` are not counted.
`scripts/formats.py` writes this page from `tests/formats`; a test compares both.

| format | programs and versions | files | trials | versions seen | parameters seen in cases |
|---|---|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    files: dict[str, set[Path]] = defaultdict(set)
    trials: dict[str, int] = defaultdict(int)
    versions: dict[str, set[str]] = defaultdict(set)
    settings: dict[str, set[str]] = defaultdict(set)
    for path in sorted(DATA.glob("*/**/*")):
        if not path.is_file():
            continue
        try:
            found = read_file(path)
        except BarelineError:
            continue
        for each in found:
            name = each.importer.name
            files[name].add(path)
            trials[name] += 1
            settings[name] |= set(each.imported.params)
            version = each.importer.facts(each.launch).get(f"import.{name}")
            versions[name] |= {str(version)} if version else set()
    rows = [
        f"| `{name}` | {importer.title} | {len(files[name])} | {trials[name]} "
        f"| {', '.join(sorted(versions[name])) or 'not printed'} "
        f"| {', '.join(f'`{key}`' for key in sorted(settings[name])) or 'none'} |\n"
        for name, importer in load_importers().items()
        if name in files
    ]
    return HEAD + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
