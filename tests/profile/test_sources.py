"""The profiler's sources stand on each other without a circle."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

from bareline.build.native import source_folder

#: Wrappers of posix.c by the macros that define them, and by hand.
_DEFINED = re.compile(r"^(?:TRANSFER|SYNC|OPEN|FOPEN)\((\w+)|^BL_EXPORT \w+ \*?(\w+)\(", re.M)


def _sources() -> dict[str, str]:
    """Return the text of each source with its header, comments removed."""
    texts: dict[str, str] = {}
    for path in sorted((source_folder() / "native" / "pmpi").glob("*.[ch]")):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        texts[path.stem] = texts.get(path.stem, "") + text
    return texts


def test_no_source_stands_on_itself() -> None:
    texts = _sources()
    taken = {name for found in _DEFINED.findall(texts["posix"]) for name in found if name}
    assert {"open", "pwrite", "close", "fopen"} <= taken
    graph = {
        name: {Path(header).stem for header in re.findall(r'#include "(\w+\.h)"', text)} - {name}
        for name, text in texts.items()
    }
    # A call of a function that posix.c takes the place of goes through posix.c.
    calls = re.compile(rf"(?<![\w.>_])(?:{'|'.join(sorted(taken))})\(")
    for name, text in texts.items():
        if name != "posix" and calls.search(text):
            graph[name].add("posix")
    assert "posix" in graph["output_stream"]
    list(TopologicalSorter(graph).static_order())
