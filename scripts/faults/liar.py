#!/usr/bin/env python3
"""Stands in the path as ``ssh``: a host that runs what it is told, and lies about what came of it.

What it lies is in ``lie.json`` beside it: a word of the conversation and what becomes of its line,
or what it says instead of everything. It needs no network and no other user, so that a campaign can
try it anywhere; the command line, the scripts and what reads the answers are the real ones.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

#: Options of ssh that take a value.
_WITH_VALUE = {"-o", "-F", "-p", "-l", "-i"}
_BLOCK = b"x" * (1 << 20)


def main() -> None:
    """Run the command line here, and tell what the lie makes of it."""
    arguments, options = sys.argv[1:], []
    while arguments and arguments[0].startswith("-"):
        options.append(arguments.pop(0))
        if options[-1] in _WITH_VALUE:
            arguments.pop(0)
    if "-G" in options:
        print("hostname 127.0.0.1")  # a host without an address is refused before it can lie
        return
    lie = json.loads(Path(__file__).with_name("lie.json").read_text())
    line = " ".join(arguments[1:])
    out = sys.stdout.buffer
    if lie["kind"] == "mute":
        time.sleep(60)
        return
    if lie["kind"] == "gone":
        sys.exit(lie.get("code", 255))
    # Apart, as on another machine: what ends ssh does not end what runs there, which cleans up.
    process = subprocess.Popen(["sh", "-c", line], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    # What a host that never ends its answer would do, until nobody listens any more.
    try:
        if lie["kind"] in ("endless line", "endless lines") and "bareline %s" in line:
            end = b"\n" if lie["kind"] == "endless lines" else b""
            out.write(f"bareline {arguments[0]} cores ".encode())
            while True:
                out.write(_BLOCK + end)
        if lie["kind"] == "endless complaint":
            threading.Thread(target=_complain, daemon=True).start()
        for raw in process.stdout:
            for told in _told(raw, lie):
                out.write(told)
                out.flush()
    except OSError:
        process.stdout.close()
    os._exit(process.wait())


def _complain() -> None:
    try:
        for _ in range(200):
            sys.stderr.buffer.write(_BLOCK)
    except OSError:
        pass


def _told(raw: bytes, lie: dict) -> list[bytes]:
    """Return what is said in place of a line."""
    words = raw.rstrip(b"\n").split(b" ", 3)
    kind = lie["kind"]
    if kind == "garbage":
        return [bytes.fromhex(lie["value"]) + b"\n", raw]
    if len(words) < 3 or words[0] != b"bareline" or words[2] != lie.get("word", "").encode():
        return [raw]
    value = lie.get("value", "").encode("utf-8", "surrogatepass")
    if kind == "left out":
        return []
    if kind == "instead":
        return [b" ".join((*words[:3], value)) + b"\n"]
    if kind == "for another":
        return [b" ".join((words[0], b"elsewhere", *words[2:])) + b"\n", raw]
    if kind == "more":
        return [b" ".join((*words[:2], lie["other"].encode(), value)) + b"\n", raw]
    if kind == "twice":
        return [raw] * 1000
    return [raw]


if __name__ == "__main__":
    main()
