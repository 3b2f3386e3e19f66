"""Outputs are spoiled and imported, into a new run and an older one: the run opens afterwards."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench import Bench, lines_of
from files import damaged
from table import Count

_ROOT = Path(__file__).resolve().parents[2]
_CONTRIB = _ROOT / "packages/bareline-contrib"
_CAPTURED = (_ROOT / "tests/formats/data", _CONTRIB / "tests/data")
#: What stands where a name or a number was: too long, no text of a page, none of its kind.
_STRANGE: tuple[Any, ...] = (
    "BM_run<std::vector<std::pair<int, double>>>/" * 8, "n" * 201, "\ud800", "\x00", "a\nb", "",
    "/", "..", "ü" * 150, '"', "a=b c", 1e308, -1, 0, 10**30, None, True, [], {}, float("nan"),
)  # fmt: skip


_NAME = re.compile(
    r'"\w*(?:name|benchmark|unit)": "([^"/]{3,})',
)


def spoiled_imports(bench: Bench, tries: int) -> Count:
    """Import spoiled outputs; every second one into a run that holds an earlier import."""
    from bareline.formats.importer import load_importers

    count = Count()
    place = bench.room("imports")
    build = ("--no-index", "--no-deps", "--no-build-isolation", "--target", place / "contrib")
    line = (sys.executable, "-m", "pip", "install", "-q", *build, _CONTRIB)
    subprocess.run(line, check=True, capture_output=True)
    sys.path.append(str(place / "contrib"))
    load_importers.cache_clear()
    sources = sorted(file for folder in _CAPTURED for file in folder.rglob("*.out"))
    first = _CAPTURED[0] / "ib-vs-roce/ib/omb.Osu_latency.out"
    _import(count, first, place / "kept", "x")
    for number in range(tries):
        run, file = place / "run", place / "spoiled.out"
        shutil.rmtree(run, ignore_errors=True)
        if number % 2:
            shutil.copytree(place / "kept", run)
        before = lines_of(run)
        source = bench.random.choice(sources)
        file.write_bytes(_spoiled(bench, source.read_bytes()))
        count.tries += 1
        what = f"import {number} of {source.name}"
        _import(count, file, run, what, bench.random.choice(("x", "x", "y", None)))
        if (run / "run.toml").exists():
            _look(count, run, what)
        if lines_of(run)[: len(before)] != before:
            count.lost += 1
            count.notes.append(f"{what}: earlier records vanished")
    return count


def _spoiled(bench: Bench, data: bytes) -> bytes:
    chosen = bench.random
    text = data.decode(errors="replace")
    if text.startswith("{") and chosen.random() < 0.8:
        if chosen.random() < 0.5:  # a name, wherever it stands
            name = chosen.choice(_NAME.findall(text) or ["name"])
            other = json.dumps(str(chosen.choice(_STRANGE)))[1:-1]
            return text.replace(name, other).encode()
        content = json.loads(text)
        for _ in range(chosen.choice((1, 1, 2, 4))):
            holders = [one for one in _within(content) if one]
            place = chosen.choice(holders)
            key = chosen.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if isinstance(place, dict) and chosen.random() < 0.3:
                place[str(chosen.choice(_STRANGE))] = place.pop(key)
            elif not isinstance(place[key], dict | list) or chosen.random() < 0.1:
                place[key] = chosen.choice(_STRANGE)
        return json.dumps(content).encode()
    if chosen.random() < 0.5:
        words = text.split(" ")
        words[chosen.randrange(len(words))] = str(chosen.choice(_STRANGE))
        return " ".join(words).encode(errors="surrogatepass")
    return damaged(bench, data)


def _within(content: Any) -> list[Any]:
    found = [content]
    for one in found:
        inside = one.values() if isinstance(one, dict) else one
        found += [value for value in inside if isinstance(value, dict | list)]
    return found


def _import(count: Count, file: Path, run: Path, what: str, platform: str | None = "x") -> None:
    from bareline.session.intake import import_files
    from bareline.vocabulary.errors import BarelineError

    try:
        import_files([file], platform, run)
    except BarelineError:
        pass
    except Exception as error:
        count.tracebacks += 1
        count.notes.append(f"{what}: {error!r}")
    else:
        count.trials += 1


def _look(count: Count, run: Path, what: str) -> None:
    """Read all of a run as every verb does."""
    from bareline.store.run import Run
    from bareline.vocabulary.errors import BarelineError

    try:
        opened = Run.open(run)
        heads, records = opened.heads(), list(opened.records())
        tables = opened.tables()
        assert len(heads) == len({record.trial.index for record in records}) == len(tables.trials)
        opened.facts(), opened.events(), opened.left_out()
        for record in records:
            opened.read_raw(record.trial)
    except (BarelineError, AssertionError, ValueError) as error:
        count.lost += 1
        count.notes.append(f"{what}: the run cannot be read: {error}")
