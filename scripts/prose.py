#!/usr/bin/env python3
"""Count patterns of English that slow a reader down, and fail where they increase.

    scripts/prose.py [--lower] [--list PATTERN] [FILE ...]

Without a file it reads the whole checkout: ``src`` is every docstring, comment and message of
``src/bareline``, ``docs`` is every Markdown page of ``docs`` and of the first folder, without the
changelog. A message is a string of at least three words that is not a docstring. Code is not read:
neither blocks and spans of code in Markdown nor names in backquotes.

It prints a table and fails where a count is above its limit in ``scripts/limits.toml``.
``--lower`` writes lower limits there. ``--list`` prints the places of a pattern, as
``FILE:LINE: PATTERN: excerpt``. With files, the places of all patterns are listed.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from docstrings import docstrings
from limits import exceeded, lowered, read_limits, write_limits

ROOT = Path(__file__).resolve().parent.parent
#: How far a count may rise again before it fails, so that parallel branches can be merged.
SLACK = 10
#: A string with fewer words is taken as a name, a key or a unit.
LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of prose and the line where it begins."""

    path: Path
    line: int
    words: str
    docstring: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way of writing that is counted, and the advice against it."""

    name: str
    regex: re.Pattern[str]
    advice: str
    docstrings_only: bool = False
    pages_only: bool = False


def _words(expression: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{expression})\b", re.IGNORECASE)


PATTERNS = (
    Pattern(
        "what-clause",
        # "What" of a question is in a sentence that ends with a question mark.
        re.compile(r"\bwhat\b(?![^.;:!?]*\?)", re.IGNORECASE),
        'name the thing: "the request", not "what is asked"',
    ),
    Pattern(
        "docstring: Give, Say, Tell",
        re.compile(r"\A(?:Gives?|Says?|Tells?)\b"),
        "begin with Return, Format, Print, Check or Describe",
        docstrings_only=True,
    ),
    Pattern(
        "is no X, is none of",
        # "there is no X" and "is no longer" are plain English.
        re.compile(
            r"(?<!\bthere )\b(?:is|are|was|were) (?:no(?! (?:longer|more|less|better|worse)\b)"
            r"|none of)\b",
            re.IGNORECASE,
        ),
        '"is not a valid X", "is not one of"',
    ),
    Pattern("said, tells", _words("said|says|told|tells"), "shows, prints, reports, records"),
    Pattern(
        "stand, lie, hold",
        # A lock, a connection and a reservation are held; data that no fit has seen are held out.
        re.compile(
            r"\b(?:stand|stands|stood|lie|lies|lay|(?:hold|holds|held)"
            r"(?! (?:\w+ )?(?:locks?|reservations?|connections?)\b)(?![- ]out\b))\b",
            re.IGNORECASE,
        ),
        "is, are in, contains, keeps",
    ),
    Pattern("nobody, whoever", _words("nobody|somebody|whoever"), "the passive, or the actor"),
    Pattern("beside", _words("beside"), '"with", "in addition to", "next to"'),
    Pattern("others, those of", _words("others|those of|the one that"), "repeat the noun"),
    Pattern(
        "anew, alike, meanwhile",
        _words("anew|alike|meanwhile|in vain|all the same"),
        '"again", "the same", "during the trial", "without effect"',
    ),
    Pattern(
        "too at the end",
        re.compile(r", too(?=\s*(?:[.,;:)!?]|$))", re.IGNORECASE),
        '"also", before the verb',
    ),
    Pattern(
        "sentences on a wide line",
        # Tables are wide by nature. An ellipsis and the full stop of a bold head end no sentence.
        re.compile(
            r"^(?![ \t]*\|)(?=.{101})[ \t]*(?:\d+\.[ ])?+"
            r".*?[^\s.*](?<!\b[A-Z])[.?!]\)?[ ](?=[\"(\[*]*(?:[A-Z#]|bareline\b)).*$",
            re.MULTILINE,
        ),
        "one sentence a line, or lines of at most 100 columns",
        pages_only=True,
    ),
)

_LINK_TARGET = re.compile(r"(?<=\])\([^()\s]*\)")
_CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)


def without_code(text: str) -> str:
    """Return a text with a ``#`` in place of each span of code, and its line breaks kept."""
    return _CODE_SPAN.sub(lambda span: "#" + "\n" * span.group().count("\n"), text)


def without_targets(text: str) -> str:
    """Return a text of Markdown without the addresses of its links."""
    return _LINK_TARGET.sub("", text)


def texts_of_python(path: Path, source: str) -> Iterator[Text]:
    """Yield the docstrings, the messages and the comments of a module."""
    tree = ast.parse(source)
    of_definitions = set(docstrings(tree))
    inside: set[ast.AST] = set()  # parts of f-strings, which are read as a whole
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(node.values)
        text = _string(node)
        if text is None or node in inside:
            continue
        line = getattr(node, "lineno", 1)
        if node in of_definitions:
            yield Text(path, line, without_code(text), docstring=True)
        elif len(re.findall(r"[A-Za-z]{2,}", text)) >= LEAST_WORDS and " " in text:
            yield Text(path, line, without_code(text))
    yield from _comments(path, source)


def _string(node: ast.AST) -> str | None:
    """Return the text of a string or f-string, with ``#`` for each value in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "#" for part in node.values
        )
    return None


def _comments(path: Path, source: str) -> Iterator[Text]:
    """Yield the comments; those of consecutive lines are one text."""
    begin = 0
    lines: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type != tokenize.COMMENT:
            continue
        row = token.start[0]
        if lines and row != begin + len(lines):
            yield Text(path, begin, without_code("\n".join(lines)))
            lines = []
        if not lines:
            begin = row
        lines.append(token.string.lstrip("#: "))
    if lines:
        yield Text(path, begin, without_code("\n".join(lines)))


def texts_of_markdown(path: Path, source: str) -> Iterator[Text]:
    """Yield the paragraphs of a page, without its blocks of code."""
    begin = 1
    lines: list[str] = []
    fence = ""
    for number, line in enumerate([*source.splitlines(), ""], start=1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = ""
        prose = not fence and not mark and line.strip()
        if prose:
            if not lines:
                begin = number
            lines.append(line)
        elif lines:
            yield Text(path, begin, without_targets(without_code("\n".join(lines))))
            lines = []


def texts_of(path: Path) -> Iterator[Text]:
    """Yield the prose of a Python or Markdown file."""
    source = path.read_text(encoding="utf-8")
    read = texts_of_python if path.suffix == ".py" else texts_of_markdown
    yield from read(path, source)


def places_of(text: Text) -> Iterator[tuple[Pattern, int, str]]:
    """Yield each use of a pattern: the pattern, its line and the words around it."""
    for pattern in PATTERNS:
        if pattern.docstrings_only and not text.docstring:
            continue
        if pattern.pages_only and text.path.suffix != ".md":
            continue
        for use in pattern.regex.finditer(text.words):
            line = text.line + text.words.count("\n", 0, use.start())
            around = text.words[max(0, use.start() - 40) : use.end() + 40]
            yield pattern, line, " ".join(around.split())


def count(paths: Iterable[Path]) -> dict[str, int]:
    """Return how often each pattern is used in these files, in the order of the patterns."""
    uses: Counter[str] = Counter()
    for path in paths:
        for text in texts_of(path):
            uses.update(pattern.name for pattern, _, _ in places_of(text))
    return {pattern.name: uses[pattern.name] for pattern in PATTERNS}


def sections() -> dict[str, list[Path]]:
    """Return the files of each section of the limits."""
    pages = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
    return {
        "prose-src": sorted((ROOT / "src" / "bareline").rglob("*.py")),
        "prose-docs": [page for page in pages if page.name != "CHANGELOG.md"],
    }


def list_places(paths: Iterable[Path], name: str | None) -> None:
    """Print the places of one pattern, or of all."""
    for path in paths:
        for text in texts_of(path):
            for pattern, line, words in places_of(text):
                if name in (None, pattern.name):
                    print(f"{path}:{line}: {pattern.name}: {words}")


def check(*, lower: bool) -> int:
    """Print the table, compare it with the limits, and return the exit code."""
    limits = read_limits()
    counts = {section: count(paths) for section, paths in sections().items()}
    width = max(len(pattern.name) for pattern in PATTERNS)
    print(f"{'prose':<{width}} {'src':>6} {'limit':>6} {'docs':>6} {'limit':>6}")
    for pattern in PATTERNS:
        cells = []
        for section, uses in counts.items():
            cells += [uses[pattern.name], limits.get(section, {}).get(pattern.name, 0)]
        print(f"{pattern.name:<{width}}", *(f"{cell:>6g}" for cell in cells))
    if lower:
        slack = dict.fromkeys((pattern.name for pattern in PATTERNS), SLACK)
        for section, uses in counts.items():
            limits[section] = lowered(uses, limits.get(section, {}), slack)
        write_limits(limits)
    problems = [
        f"{section}: {problem}"
        for section, uses in counts.items()
        for problem in exceeded(uses, limits.get(section, {}))
    ]
    for problem in problems:
        name = problem.split(": ", 1)[1]
        advice = next(p.advice for p in PATTERNS if name.startswith(p.name))
        print(f"prose: {problem}; write instead: {advice}", file=sys.stderr)
    if problems:
        print("prose: `scripts/prose.py FILE` lists the places of a file", file=sys.stderr)
    return bool(problems)


def main() -> None:
    """Check the whole, or list the places of some files."""
    parser = argparse.ArgumentParser(description="Count patterns of English that are hard to read.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    parser.add_argument("--lower", action="store_true", help="write lower limits")
    parser.add_argument("--list", choices=[pattern.name for pattern in PATTERNS], dest="name")
    given = parser.parse_args()
    if given.files or given.name:
        everywhere = [path for paths in sections().values() for path in paths]
        list_places(given.files or everywhere, given.name)
        return
    sys.exit(check(lower=given.lower))


if __name__ == "__main__":
    main()
