"""Forms that plain English has no use for, in pages and in the strings that users read."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "bareline"
#: Of each family the forms that were found here; what to write instead is beside it.
FORBIDDEN = {
    r"\bof th(?:at|ose) one\b": "the noun itself",
    r"\bof that (?:one|a|an|the|each) \w+": "the noun itself",
    r"\b(?:trials?|launch(?:es)?|files?|points?) less\b": "skipping 3 trials",
    r"\b(?:trials?|launch(?:es)?|files?|points?) more to\b": "3 trials remain",
    r"\b(?:is|are) told (?:by|of|all|in)\b": "is known from, is described in",
    r"\b(?:page|file|line|table|report|header|log|row|cell)s? tells?\b": "shows, lists, contains",
    r"\b(?:page|file|line|table|report|row|cell)s? (?:asks?|holds? that)\b": "needs, shows",
    r"\bstands? (?:in|beside) the (?:table|page|report|file|line)s?\b": "is in the table",
    r"\b(?:is|are) asked beside\b": "a second test asks",
    r"\bwhat is compared is\b": "it compares",
    r"\btold (?:apart|beside|by|of|for|not|that|to|here)\b": "separate, given, reported",
    r"(?<!cannot )(?<!cannot-)(?<!unable to )\btells?\b": "shows, reports, distinguishes",
    r"\bstands? (?:twice|beside|in|on|there|above|below|here|alone|first)\b": "is, appears",
    r"\bheld against\b": "compared with",
    r"\b(?:page|file|line|table|record|folder|row|column|run|trace|output)s? holds?\b": "has",
    r"\bwhat is (?:left|compared|asked|held|kept|missing)\b": "the rest, the question",
    r"\bwhat was (?:seen|asked|held|kept|left|measured)\b": "the tests, the measurements",
    r"\bseen (?:working|running|booting)\b": "tested",
    r"\bat hand\b": "available",
    r"\bdone about it\b": "improvements",
    r"\bone's own\b": "your own",
}
#: A head names its section by a noun, or asks its question whole.
HEAD = re.compile(r"^#+ (?:What|Which|Where|Who)\b[^?\n]*$", re.MULTILINE)
WORST = re.compile("|".join(f"(?:{form})" for form in FORBIDDEN), re.IGNORECASE)
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: The strings of the source are looked at where they are written.
PAGES = [page for page in WRITTEN if page.name != "messages.md"]


def strings_of(text):
    """Yield the strings of a source with their lines, without docstrings."""
    tree = ast.parse(text)
    bare = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in bare:
            yield node.lineno, node.value


def found_in(text):
    """Give the forms in a text whose lines may break anywhere."""
    return [" ".join(found.group().split()) for found in WORST.finditer(re.sub(r"\s+", " ", text))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_plain(page):
    assert found_in(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_heads_are_nouns(page):
    assert HEAD.findall(page.read_text(encoding="utf-8")) == []


def test_strings_are_plain():
    found = [
        (str(file.relative_to(ROOT)), line, form)
        for file in sorted(SOURCES.rglob("*.py"))
        for line, text in strings_of(file.read_text(encoding="utf-8"))
        for form in found_in(text)
    ]
    for file in [*SOURCES.rglob("*.j2"), *SOURCES.rglob("*.toml"), *SOURCES.rglob("*.txt")]:
        text = "" if file.name == "messages.toml" else file.read_text(encoding="utf-8")
        found += [(str(file.relative_to(ROOT)), 0, form) for form in found_in(text)]
    assert found == []


@pytest.mark.parametrize(
    "sentence",
    [
        "36 trials less to run",
        "the route is told by\nits node",
        "of that one connection of a rank 168 µs more",
        "every point's range stands in the tables",
        "the header tells which one ran",
        "start-up is told apart",
        "no curve tells",
        "a key stands twice",
        "figures are held against those of another run",
        "the page holds all of this",
        "it goes on with what is left",
        "what was measured is described once",
        "Enroot was not seen running",
        "no cluster was at hand",
    ],
)
def test_each_form_is_noticed(sentence):
    assert found_in(sentence)


@pytest.mark.parametrize(
    ("head", "found"),
    [("## What is checked", True), ("## Checks", False), ("# It stops: what now?", False)],
)
def test_a_head_without_a_noun_is_noticed(head, found):
    assert bool(HEAD.findall(f"text\n{head}\ntext")) == found


def test_cannot_tell_is_an_answer():
    assert not found_in('"Cannot tell" is an answer ([what now](docs/how-to/cannot-tell.md))')


def test_docstrings_are_no_strings_of_the_product():
    assert [text for _, text in strings_of('"""is told by"""\nx = "is told by"\n')] == [
        "is told by"
    ]
