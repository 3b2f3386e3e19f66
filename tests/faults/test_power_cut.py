"""A power cut loses what was not synced: nothing durable may rest on it.

The shim's log of calls gives the order of writes and syncs. Whatever unsynced writes a cut takes, a
record that is durable has its raw output, and a header that declares what it names.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "tests/formats/data/ib-vs-roce/ib/omb.Osu_latency.out"
STUDY = '[study]\nname = "x"\nlaunches = 2\nprecision = 0\n[[measure]]\nprobe = "null"\n'
ARMED = (
    "import ctypes, sys; ctypes.CDLL(sys.argv[1]).bl_fault_arm("
    "sys.argv[2].encode(), sys.argv[3].encode(), b'none', 0, 0, 0); "
    "sys.argv[1:] = sys.argv[4:]; from bareline.cli.main import main; main()"
)


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("no C compiler here")
    made = tmp_path_factory.mktemp("shim") / "shim.so"
    source = ROOT / "native/tests/fault_shim.c"
    subprocess.run(["cc", "-std=c11", "-shared", "-fPIC", "-o", made, source, "-ldl"], check=True)
    return made


def calls(shim, folder, *arguments):
    """Give the calls of a command below a folder: kind, path within it, where a rename goes."""
    log = folder.parent / "log"
    line = [sys.executable, "-c", ARMED, shim, folder, log, *arguments]
    subprocess.run(line, check=True, cwd=folder, env={"LD_PRELOAD": str(shim), "PATH": "/usr/bin",
        "BARELINE_CACHE": str(folder.parent / "cache")}, capture_output=True)  # fmt: skip
    rows = [row.split("\t") for row in log.read_text().splitlines()]
    return [(kind, path.removeprefix(f"{folder}/"), to) for kind, path, to, _ in rows]


def resting_on_nothing(rows):
    """Name what is not durable whenever a record becomes so."""
    dirty, unnamed, found = set(), set(), []
    for kind, path, to in rows:
        if kind == "write":
            dirty.add(path)
        elif kind == "rename":
            assert path not in dirty, f"{path} is renamed before it is synced"
            unnamed.add(str(Path(to)))
        elif kind == "fsync":
            dirty.discard(path)
            unnamed = {name for name in unnamed if str(Path(name).parent.name) != Path(path).name}
            if path.endswith("records.jsonl"):
                found += [one for one in dirty if "/raw/" in one] + sorted(unnamed)
    return found


def test_a_record_rests_on_nothing_that_a_power_cut_takes(shim, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    (place / "s.toml").write_text(STUDY)
    (place / "p.toml").write_text('[platform.a]\ntype = "null"\n')
    rows = calls(shim, place, "run", "s.toml", "--platforms", "p.toml", "--on", "a", "--out", "run",
                 "-q")  # fmt: skip
    assert sum(kind == "fsync" and path == "run/records.jsonl" for kind, path, _ in rows) == 2
    assert any(kind == "write" and path.startswith("run/raw/") for kind, path, _ in rows)
    assert resting_on_nothing(rows) == []


def test_an_imported_record_rests_on_nothing_that_a_power_cut_takes(shim, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    rows = calls(shim, place, "import", OUTPUT, "--platform", "x", "--out", "run", "-q")
    assert ("fsync", "run/records.jsonl", "") in rows
    assert resting_on_nothing(rows) == []
