"""Envelopes around outputs: labels, colours, encodings and packing change nothing."""

import bz2
import gzip
import lzma
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from bareline.formats import files
from bareline.formats.files import read_file, read_text
from bareline.testing.messages import raises
from bareline.vocabulary.errors import BarelineError
from bareline.vocabulary.model import Failed

DATA = Path(__file__).parent / "data"
CONTRIB = Path(__file__).parents[2] / "packages" / "bareline-contrib" / "tests" / "data"
pytestmark = pytest.mark.usefixtures("contrib")
OUTPUTS = sorted((*DATA.glob("*.out"), *DATA.glob("composed/*.out"), *CONTRIB.glob("*.out")))

STAMP = "Mon Feb  5 10:00:00 2024"
#: What launchers put before each line, by their option.
LABELS = {
    "srun -l": "0: ",
    "srun -l, many tasks": "  0: ",
    "flux run -l": "0: ",
    "Open MPI 4 --tag-output": "[1,0]<stdout>:",
    "Open MPI 4 --timestamp-output": f"{STAMP}<stdout>:",
    "Open MPI 4, both": f"{STAMP}[1,0]<stdout>:",
    "Open MPI 5 --output tag": "[prterun-n1-4711@1,0]<stdout>: ",
    "Open MPI 5 --output tag-detailed": "[prterun-n1-4711@1,0][n1:4712]<stdout>: ",
    "MPICH and Intel MPI -l": "[0] ",
    "GitHub's logs": "2024-02-05T10:00:00.1234567Z ",
    "kubectl logs --timestamps": "2024-02-05T10:00:00.123456789+00:00 ",
    "ts": "Feb 05 10:00:00 ",
    "docker compose": "rank0-1  | ",
}


def readings(text):
    return [found.imported for found in read_text(text, Path("log"))]


def labelled(text, label):
    return "".join(f"{label}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize("label", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("output", OUTPUTS, ids=lambda path: path.name)
def test_labels_of_launchers_change_nothing(output, label):
    text = output.read_text()
    assert readings(labelled(text, label)) == readings(text)


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda path: path.name)
def test_labels_whose_blanks_an_editor_removed(output):
    text = output.read_text()
    bare = "".join(f"{line.rstrip()}\n" for line in labelled(text, "0: ").splitlines())
    assert readings(bare) == readings("".join(f"{x.rstrip()}\n" for x in text.splitlines()))


def test_two_ranks_that_both_print_are_two_launches():
    text = (DATA / "ib-vs-roce" / "ib" / "omb.Osu_latency.out").read_text()
    mixed = "".join(f"0: {line}\n1: {line}\n" for line in text.splitlines())
    first, second = readings(mixed)
    assert first.outcome == second.outcome == readings(text)[0].outcome


def test_a_launchers_own_lines_have_no_label():
    text = (DATA / "ib-vs-roce" / "ib" / "omb.Osu_latency.out").read_text()
    cut = labelled(text.split("131072")[0], "0: ")
    (imported,) = readings(cut + "srun: error: n1: task 0: Terminated\n")
    assert isinstance(imported.outcome, Failed)
    assert "srun: error" in imported.outcome.reason


@pytest.mark.parametrize("output", OUTPUTS, ids=lambda path: path.name)
def test_colours_and_carriage_returns_change_nothing(output, tmp_path):
    text = output.read_text()
    coloured = "".join(f"\x1b[1;32m{line}\x1b[0m\x1b[K\r\n" for line in text.splitlines())
    path = tmp_path / "log"
    path.write_bytes(coloured.encode())
    assert [each.imported for each in read_file(path)] == readings(text)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_encodings_change_nothing(encoding, tmp_path):
    text = (DATA / "iperf3.tcp.out").read_text()
    path = tmp_path / "log"
    path.write_bytes(text.encode(encoding))
    assert [each.imported for each in read_file(path)] == readings(text)


def zstd(data):
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not installed")
    return subprocess.run(["zstd", "-q", "-c"], input=data, capture_output=True, check=True).stdout


PACKERS = {"gz": gzip.compress, "xz": lzma.compress, "bz2": bz2.compress, "zst": zstd}


@pytest.mark.parametrize("suffix", PACKERS)
def test_packed_files_are_read(suffix, tmp_path):
    data = (DATA / "nuttcp.tcp.out").read_bytes()
    path = tmp_path / f"log.{suffix}"
    path.write_bytes(PACKERS[suffix](data))
    assert [each.imported for each in read_file(path)] == readings(data.decode())


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_bomb_is_refused(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LARGEST_FILE_BYTES", 1 << 20)
    path = tmp_path / f"bomb.{suffix}"
    path.write_bytes(PACKERS[suffix](bytes(64 << 20)))
    with raises(BarelineError, "BL-FORMATS-276", "1"):
        read_file(path)


@pytest.mark.parametrize("suffix", PACKERS)
def test_a_torn_packed_file_is_named(suffix, tmp_path):
    data = PACKERS[suffix]((DATA / "iperf3.tcp.out").read_bytes())
    path = tmp_path / f"torn.{suffix}"
    path.write_bytes(data[: len(data) // 2])
    with raises(
        BarelineError, "BL-FORMATS-250" if suffix == "zst" else "BL-FORMATS-281", path.name
    ):
        read_file(path)


def test_zstd_that_is_missing_is_named(tmp_path, monkeypatch):
    path = tmp_path / "log.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd0000")
    with tempfile.TemporaryDirectory() as empty:
        monkeypatch.setenv("PATH", empty)
        with raises(BarelineError, "BL-FORMATS-606"):
            read_file(path)
