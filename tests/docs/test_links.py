"""Links between files lead somewhere where they are read in the repository, anchors among them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page
    for page in ROOT.rglob("*.md")
    if not {"build", ".venv", "node_modules"} & set(page.relative_to(ROOT).parts)
)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page):
    """Give the anchors that a forge makes of a page's headings."""
    found = set()
    for head in re.findall(r"^#+ (.*)$", _FENCED.sub("", page.read_text()), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", head).lower()
        found.add(re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-"))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    wrong = []
    for link in _LINK.findall(_FENCED.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_table_is_not_interrupted(page):
    """Rows behind an empty line have no head: they are printed as they are."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    tables = re.findall(r"(?:^[ ]*\|.*\|[ ]*\n)+", text, re.MULTILINE)
    head = re.compile(r"^[ ]*\|[ :|-]+\|[ ]*$", re.MULTILINE)
    assert [table for table in tables if not head.search(table)] == []


@pytest.mark.parametrize("section", ["tutorial", "how-to", "reference", "method", "decisions", "contributing"])
def test_a_section_lists_its_pages(section):
    folder = ROOT / "docs" / section
    linked = set(_LINK.findall((folder / "README.md").read_text()))
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= linked
