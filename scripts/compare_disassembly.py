#!/usr/bin/env python3
"""Which functions two builds compiled to other instructions.

    scripts/compare_disassembly.py OLD NEW [--only PATTERN] [--rename A=B] [--show FUNCTION]

OLD and NEW are build trees (or folders of object files) of the native programs with the same
compiler and flags. Objects are matched by their path below the tree, functions by name. Addresses,
padding and the places of constants are not compared; instructions, registers, offsets into
structures and what is called are. ``--rename`` replaces a beginning of names in OLD, where what is
called was renamed. ``--show`` prints the difference of one function.

Exit code 1 where a function that both have differs.
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

_FUNCTION = re.compile(r"^[0-9a-f]+ <(?P<name>.+)>:$")
_INSTRUCTION = re.compile(r"^ +[0-9a-f]+:\t(?P<text>.*)$")
_RELOCATION = re.compile(r"^\t+[0-9a-f]+: (?P<kind>R_\S+)\t(?P<symbol>\S+)$")
_TARGET = re.compile(r"\b[0-9a-f]+ (?=<)")
_PLACE = re.compile(r"(\.(?:rodata|text|data|bss|LC)[^+-]*)[+-]0x[0-9a-f]+")
_PADDING = re.compile(r"^(nop|data16|cs nop|xchg +%ax,%ax)")


def functions(objects: Path, rename: str = "") -> dict[str, list[str]]:
    """Return the instructions of each function of an object file, without addresses."""
    before, _, after = rename.partition("=")
    begins = re.compile(rf"(?<![A-Za-z0-9])(_*){re.escape(before)}")
    said = subprocess.run(
        ["objdump", "-dr", "--no-show-raw-insn", str(objects)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in said.splitlines():
        if match := _FUNCTION.match(line):
            name = begins.sub(rf"\g<1>{after}", match["name"]) if before else match["name"]
            lines = found.setdefault(name, [])
        elif match := _INSTRUCTION.match(line):
            text = _TARGET.sub("", match["text"].split("#")[0]).strip()
            if before:
                text = begins.sub(rf"\g<1>{after}", text)
            if not _PADDING.match(text):
                lines.append(re.sub(r"\s+", " ", text))
        elif match := _RELOCATION.match(line):
            symbol = _PLACE.sub(r"\1", match["symbol"])
            if before:
                symbol = begins.sub(rf"\g<1>{after}", symbol)
            lines.append(f"  {match['kind']} {symbol}")
    return found


def objects_of(tree: Path) -> dict[str, Path]:
    """Return the object files below a tree by their relative path."""
    return {str(path.relative_to(tree)): path for path in sorted(tree.rglob("*.o"))}


def differences(old: Path, new: Path, only: str, rename: str) -> Iterator[tuple[str, str, str]]:
    """Yield object, function and what is the matter with it: "differs", "new", "gone"."""
    before, after = objects_of(old), objects_of(new)
    for name in sorted(before.keys() | after.keys()):
        if not fnmatch(name, only):
            continue
        if name not in before or name not in after:
            yield name, "", "new" if name in after else "gone"
            continue
        was, now = functions(before[name], rename), functions(after[name])
        for function in sorted(was.keys() | now.keys()):
            if function not in was or function not in now:
                yield name, function, "new" if function in now else "gone"
            elif was[function] != now[function]:
                yield name, function, "differs"


def show(old: Path, new: Path, only: str, rename: str, function: str) -> None:
    """Print how a function differs."""
    before, after = objects_of(old), objects_of(new)
    for name in before.keys() & after.keys():
        if fnmatch(name, only):
            was = functions(before[name], rename).get(function, [])
            now = functions(after[name]).get(function, [])
            for line in difflib.unified_diff(was, now, f"old {name}", f"new {name}", lineterm=""):
                print(line)


def main() -> int:
    """Compare two trees."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", default="*", help="objects whose path matches")
    parser.add_argument("--rename", default="", help="A=B: names in OLD that begin with A")
    parser.add_argument("--show", help="print the difference of this function")
    given = parser.parse_args()
    if given.show:
        show(given.old, given.new, given.only, given.rename, given.show)
        return 0
    counts = dict.fromkeys(("differs", "new", "gone"), 0)
    for name, function, what in differences(given.old, given.new, given.only, given.rename):
        counts[what] += 1
        print(f"{what:8} {name} {function}")
    both = objects_of(given.old).keys() & objects_of(given.new).keys()
    compared = sum(len(functions(given.new / name)) for name in both if fnmatch(name, given.only))
    print(f"{compared} functions compared: " + ", ".join(f"{n} {w}" for w, n in counts.items()))
    return 1 if counts["differs"] else 0


if __name__ == "__main__":
    sys.exit(main())
