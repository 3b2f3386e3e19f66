#!/usr/bin/env python3
"""Give each message a code, and list the messages in docs/reference/messages.md.

    scripts/messages.py            exit code 1 if a message has no code or the page is old
    scripts/messages.py --write    gives codes to new messages and writes the page
    scripts/messages.py CODE ...   prints the message, and the lines of source that make it

A message is a call of an error class, or a call in a ``raise`` statement, with words as argument
(`bareline.vocabulary.message_sites`). Equal words in one package are one message. Each package
keeps its codes in ``src/bareline/PACKAGE/messages.toml``.

``--write`` recognizes a message whose words changed: the old words are gone, and new ones are in
the same function, or similar ones in the same module or package. A message that moves to another
package takes its code along. The code of a message that is gone is retired: it is not given again.
Where the script takes a new message for an old one, or the reverse, edit ``text`` in
``messages.toml`` by hand.

A number comes from a checksum of the words that the message has at first, so that two branches
seldom give one number twice. If a merge leaves a number twice, ``--write`` gives another one to the
second message.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import re
import sys
import tomllib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from bareline.session.expected import ClaimObstacle
from bareline.vocabulary.caveats import CAVEATS, Caveat
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.message_codes import (
    KEY_PREFIX,
    Message,
    message_key,
    place_name,
)
from bareline.vocabulary.message_sites import (
    Site,
    error_classes,
    has_words,
    read_sites,
    without_names,
)
from bareline.vocabulary.source_place import CODES_FILE
from bareline.vocabulary.validation_errors import SENTENCES

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "bareline"
PAGE = ROOT / "docs" / "reference" / "messages.md"
COMMAND = "scripts/messages.py --write"
#: Numbers have three digits, from 100 on.
_FIRST, _NUMBERS = 100, 900
#: How similar the words of one message are before and after a change, elsewhere than in the same
#: function: in the same module, in the same package.
_IN_MODULE, _IN_PACKAGE = 0.6, 0.8
#: So many messages that need a code are listed.
_LISTED = 12


@dataclass(frozen=True, slots=True)
class Made:
    """A message as the source makes it now, and the places that make it."""

    message: Message
    places: tuple[str, ...]


@dataclass(slots=True)
class Codes:
    """The codes of a package: of messages in use, and the retired ones."""

    package: str
    messages: list[Message] = field(default_factory=list)
    retired: set[str] = field(default_factory=set)

    @property
    def file(self) -> Path:
        """The file that keeps them."""
        return SOURCE / self.package / CODES_FILE

    def new_code(self, key: str) -> str:
        """Return a code that was never given."""
        taken = self.retired | {message.code for message in self.messages}
        first = zlib.crc32(f"{self.package} {key}".encode()) % _NUMBERS
        for step in range(_NUMBERS):
            number = _FIRST + (first + step) % _NUMBERS
            code = f"BL-{self.package.upper()}-{number}"
            if code not in taken:
                return code
        raise SystemExit(f"{self.file} has used all its numbers")


def main() -> int:
    """Check or write the codes and the page, or print messages by code; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="give codes, and write the page")
    parser.add_argument("codes", nargs="*", metavar="CODE", help="print these messages")
    options = parser.parse_args()
    if options.codes:
        return _print(options.codes)
    made = {package: messages_made(package) for package in packages()}
    old = {package: read_codes(package) for package in made}
    new = renewed(old, made)
    used = [codes for codes in new.values() if codes.messages or codes.retired]
    files = {codes.file: codes_text(codes) for codes in used}
    files[PAGE] = page_text(new)
    stale = {path: text for path, text in files.items() if _old_text(path) != text}
    if options.write:
        for path, text in stale.items():
            path.write_text(text, encoding="utf-8")
        return 0
    problems = list(_problems(old, new))
    if not problems and PAGE not in stale:
        return 0
    for problem in problems[:_LISTED]:
        print(f"messages: {problem}")
    if len(problems) > _LISTED:
        print(f"messages: {len(problems) - _LISTED} more")
    print(
        f"messages: the codes or {PAGE.relative_to(ROOT)} are old; run this and commit: {COMMAND}"
    )
    return 1


def _problems(old: Mapping[str, Codes], new: Mapping[str, Codes]) -> Iterator[str]:
    """Yield the messages that have no code, another code or other words than in the files."""
    for package, codes in new.items():
        before = {message.code: message for message in old[package].messages}
        for message in codes.messages:
            old_message = before.pop(message.code, None)
            if old_message is None:
                yield f"no code: src/bareline/{package}, {message.place}: {message.text}"
            elif _words(old_message) != _words(message):
                yield f"{message.code} has other words: {message.text}"
        for code in before:
            yield f"{code} is not used any more"


def _words(message: Message) -> tuple[str, str, str]:
    return (message.key, without_names(message.hint), message.maker)


def _old_text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def packages() -> list[str]:
    """Return the packages of bareline, by name."""
    return sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


@cache
def _trees(package: str) -> dict[str, ast.Module]:
    """Parse the modules of a package, by their dotted names below it."""
    trees = {}
    for path in sorted((SOURCE / package).rglob("*.py")):
        inside = path.relative_to(SOURCE / package).with_suffix("")
        parts = [part for part in inside.parts if part != "__init__"]
        trees[".".join(parts)] = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return trees


@cache
def _all_classes() -> frozenset[str]:
    """Return the names of the classes of errors of all packages."""
    trees = [tree for package in packages() for tree in _trees(package).values()]
    return error_classes(trees, {BarelineError.__name__})


def messages_made(package: str) -> dict[str, Made]:
    """Return the messages that a package makes, by their keys, without codes."""
    made: dict[str, Made] = {}
    for module, tree in _trees(package).items():
        sites = read_sites(tree, _all_classes())
        returned = _returned_classes(tree)
        for site in sites:
            name = place_name(f"{package}.{module}".rstrip("."), package, site.function)
            hint = site.hint or _hint_of_maker(site, sites)
            maker = returned.get(site.maker, site.maker)
            message = Message("", maker, site.text, hint, name)
            place = f"src/bareline/{package}/{module.replace('.', '/')}.py:{site.line}"
            before = made.get(message.key)
            if before is None:
                made[message.key] = Made(message, (place,))
            else:
                made[message.key] = replace(before, places=(*before.places, place))
    return made


def _returned_classes(tree: ast.Module) -> dict[str, str]:
    """Return the class of errors that each function of a module returns, by the function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {
        function.name: function.returns.id
        for function in functions
        if isinstance(function.returns, ast.Name) and function.returns.id in _all_classes()
    }


def _hint_of_maker(site: Site, sites: Iterable[Site]) -> str:
    """Return the next step that the function adds that makes the error; empty if it adds none."""
    hints = [each.hint for each in sites if each.function.split(".")[-1] == site.maker]
    return next((hint for hint in hints if has_words(hint)), "")


def read_codes(package: str) -> Codes:
    """Read the codes of a package; a merge may have left one twice."""
    codes = Codes(package)
    text = _old_text(codes.file) or ""
    head, *blocks = re.split(r"(?m)^(?=\[BL-)", text)
    codes.retired = set(tomllib.loads(head).get("retired", ()))
    for block in blocks:
        ((code, row),) = tomllib.loads(block).items()
        message = Message(code, row["by"], row["text"], row.get("next", ""), row["place"])
        codes.messages.append(message)
    return codes


def renewed(old: Mapping[str, Codes], made: Mapping[str, Mapping[str, Made]]) -> dict[str, Codes]:
    """Return the codes as they have to be for the messages that the source makes."""
    new = {package: Codes(package, retired=set(codes.retired)) for package, codes in old.items()}
    left: dict[str, dict[str, Message]] = {}
    for package, codes in old.items():
        left[package] = _keep(codes, new[package], dict(made[package]))
    waiting = {
        package: [each.message for key, each in messages.items() if key not in _keys(new[package])]
        for package, messages in made.items()
    }
    for package, messages in waiting.items():
        _take_along(messages, new[package], left)
    for package, messages in waiting.items():
        _rename(messages, new[package], left[package])
    for package, messages in waiting.items():
        for message in messages:
            code = new[package].new_code(message.key)
            new[package].messages.append(replace(message, code=code))
        new[package].retired.update(message.code for message in left[package].values())
        new[package].messages.sort(key=lambda message: message.code)
    return new


def _keys(codes: Codes) -> set[str]:
    return {message.key for message in codes.messages}


def _keep(old: Codes, new: Codes, made: dict[str, Made]) -> dict[str, Message]:
    """Keep the codes of messages with the same words; return the messages that are gone."""
    gone: dict[str, Message] = {}
    for message in old.messages:
        current = made.pop(message.key, None)
        taken = {each.code for each in new.messages}
        if current is None:
            gone.setdefault(message.code, message)
        elif message.code not in taken:
            new.messages.append(replace(current.message, code=message.code))
            gone.pop(message.code, None)
    taken = {each.code for each in new.messages}
    return {code: message for code, message in gone.items() if code not in taken}


def _take_along(
    messages: list[Message], new: Codes, left: Mapping[str, dict[str, Message]]
) -> None:
    """Give messages that another package had, with the same words, the code from there."""
    for message in list(messages):
        if not has_words(message.text):
            continue
        for gone in left.values():
            same = next((each for each in gone.values() if each.key == message.key), None)
            if same is not None:
                _give(message, same, new, messages, gone)
                break


def _rename(messages: list[Message], new: Codes, gone: dict[str, Message]) -> None:
    """Give messages whose words changed the code that they had, the most similar ones first."""
    pairs = [
        (likeness, message, before)
        for message in messages
        for before in gone.values()
        if (likeness := _likeness(message, before)) > 0
    ]
    pairs.sort(key=lambda pair: -pair[0])
    for _, message, before in pairs:
        if message in messages and before.code in gone:
            _give(message, before, new, messages, gone)


def _likeness(message: Message, before: Message) -> float:
    """Return how likely two messages are one before and after a change; 0 for not at all."""
    ratio = difflib.SequenceMatcher(None, message.key, before.key, autojunk=False).ratio()
    if message.place == before.place:
        return 1 + ratio
    same_module = message.place.split(".")[0] == before.place.split(".")[0]
    least = _IN_MODULE if same_module else _IN_PACKAGE
    return ratio if ratio >= least else 0.0


def _give(
    message: Message,
    before: Message,
    new: Codes,
    messages: list[Message],
    gone: dict[str, Message],
) -> None:
    messages.remove(message)
    del gone[before.code]
    new.messages.append(replace(message, code=before.code))


def codes_text(codes: Codes) -> str:
    """Write the file of the codes of a package."""
    lines = [_HEAD]
    if codes.retired:
        lines += ["retired = [", *(f'    "{code}",' for code in sorted(codes.retired)), "]", ""]
    for message in codes.messages:
        lines += [f"[{message.code}]", f"by = {_quoted(message.maker)}"]
        lines.append(f"text = {_quoted(message.text)}")
        if message.hint:
            lines.append(f"next = {_quoted(message.hint)}")
        lines += [f"place = {_quoted(message.place)}", ""]
    return "\n".join(lines).rstrip() + "\n"


_HEAD = f"# The codes of the messages of this package: {COMMAND}\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def page_text(new: Mapping[str, Codes]) -> str:
    """Write the page of all messages."""
    parts = [_PAGE_HEAD, _classes_table(), _caveats_table(), _obstacles_table(), _keys_table()]
    for package, codes in new.items():
        if codes.messages:
            parts.append(f"## {package}\n\n{_table(codes.messages)}")
    return "\n".join(parts)


_PAGE_HEAD = """# Messages

For a reader who has a code or the words of a message, and for a program that distinguishes errors.

Each error has a code such as `BL-STUDY-247`.
The code stays the same when the words change, and is never given to another message.
With `--verbose` the code is at the end of the line.
With `--json` it is the key `code` of the error.
A failed trial has the code of the error in `records.jsonl`.
Messages of other packages have no code, or codes with a prefix of their own.

In the tables `{path}` is a placeholder, and ` / ` separates forms of one message.
A text of placeholders alone passes on the words of another program or another message.
An error that passes on the words of another error has the code of that error.
`scripts/messages.py CODE` prints the lines of the source that make a message.
This page is made by `scripts/messages.py --write`.

## Classes of errors
"""


def _rows(head: str, rows: Iterable[tuple[str, ...]]) -> str:
    columns = head.count("|") - 1
    lines = [head, "|" + "---|" * columns]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return re.sub(r"\|  (?=\|)", "| ", "\n".join(lines)) + "\n"


def _classes_table() -> str:
    used = sorted(_subclasses(BarelineError), key=lambda each: each.__name__)
    rows = [
        (f"`{each.__name__}`", _first_line(each), str(each.exit_code))
        for each in used
        if each.__doc__ and each.__module__ == BarelineError.__module__
    ]
    return _rows("| class | meaning | exit code |", rows)


def _subclasses(root: type[BarelineError]) -> Iterator[type[BarelineError]]:
    for each in root.__subclasses__():
        yield each
        yield from _subclasses(each)


def _first_line(each: type) -> str:
    return (each.__doc__ or "").strip().partition("\n")[0]


def _caveats_table() -> str:
    rows = [
        (f"`{code}`", _code(text), _code(Caveat(code).next_step)) for code, text in CAVEATS.items()
    ]
    table = _rows("| name | meaning | next step |", rows)
    return f"## Caveats of numbers\n\nRecords and rows have the name in `caveats`.\n\n{table}"


def _obstacles_table() -> str:
    rows = [(f"`{each.name}`", _code(each.value)) for each in ClaimObstacle]
    table = _rows("| name | text, after the number of claims |", rows)
    return f"## Reasons why a run cannot judge claims\n\n{table}"


def _keys_table() -> str:
    rows = [
        (f"`{KEY_PREFIX}{kind.upper().replace('_', '-')}`", _code(text))
        for kind, text in SENTENCES.items()
    ]
    table = _rows("| code | text, after the file and the key |", rows)
    return f"## Wrong keys of files\n\n{table}"


def _table(messages: Iterable[Message]) -> str:
    rows = [
        (f"`{each.code}`", f"`{each.maker}`", _code(each.text), _code(each.hint))
        for each in messages
    ]
    return _rows("| code | class | text | next step |", rows)


def _code(text: str) -> str:
    """Write a text as code in a cell of a table, where nothing in it is markup."""
    if not text:
        return ""
    escaped = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    escaped = escaped.strip().replace("|", "\\|")
    return f"`` {escaped} ``" if "`" in escaped else f"`{escaped}`"


def _print(codes: Iterable[str]) -> int:
    missing = 0
    for code in codes:
        messages = [
            (package, message)
            for package in packages()
            for message in read_codes(package).messages
            if message.code == code
        ]
        for package, message in messages:
            print(f"{code} {message.maker}: {message.text}")
            key = message_key(message.text, message.place)
            current = messages_made(package).get(key)
            for place in current.places if current else ():
                print(f"    {place}")
        if not messages:
            print(f"no message has the code {code}", file=sys.stderr)
            missing += 1
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
