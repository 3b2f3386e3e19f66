"""What is kept of a long output and of odd files: both ends, and in words what is missing."""

import base64
import gzip
import os
import subprocess
import sys

import pytest

from bareline.platforms.hosts import output_limit
from bareline.platforms.hosts.output_limit import MOST_BYTES, HeadAndTail, cut_of_file
from bareline.platforms.hosts.process import run_process
from bareline.platforms.hosts.scripts.housekeeping import house_script, housekeeping
from bareline.platforms.hosts.scripts.node_channel import conversation, script

LINE = b"step 123456 residual 0.00123456 of a long log\n"


def collected(data, piece=1 << 16):
    ends = HeadAndTail()
    for start in range(0, len(data), piece):
        ends.extend(data[start : start + piece])
    return ends


@pytest.mark.parametrize("size", [0, 1, MOST_BYTES // 2, MOST_BYTES // 2 + 1, MOST_BYTES])
def test_what_is_not_too_long_is_whole(size):
    data = (LINE * (size // len(LINE) + 1))[:size]
    ends = collected(data)
    assert ends.text.encode() == data
    assert ends.cut("x") == ()


@pytest.mark.parametrize("piece", [7777, 1 << 16, 1 << 26])
def test_of_what_is_too_long_both_ends_are_kept_in_whole_lines(piece):
    count = 3 * MOST_BYTES // len(LINE)
    ends = collected(b"first\n" + LINE * count + b"time 1.5 s\n", piece)
    lines = ends.text.splitlines()
    assert (lines[0], lines[-1]) == ("first", "time 1.5 s")
    marker = [line for line in lines[1:-1] if line != LINE.decode().rstrip()]
    assert len(marker) == 1 and marker[0].endswith("bytes left out]")
    left_out = int(marker[0].strip("[]").split()[0])
    assert len(ends.text) - len(marker[0]) - 1 + left_out == ends.total
    assert MOST_BYTES - 2 * len(LINE) < len(ends.text) < MOST_BYTES + 100
    (told,) = ends.cut("standard output")
    assert f"standard output has {ends.total:,} bytes, of which 32 MiB are kept" in told


def test_a_line_without_end_keeps_its_beginning():
    ends = collected(b"x" * (MOST_BYTES + 10))
    assert ends.text.startswith("x" * 1000) and "bytes left out]" in ends.text


def test_a_program_gone_wild_costs_no_more_memory_than_both_ends():
    code = "import os\nfor _ in range(3000): os.write(1, b'y' * 65536)"
    done = run_process([sys.executable, "-c", code], env=dict(os.environ), timeout_s=20)
    assert done.exit_code == 0
    assert done.cut and len(done.stdout) < MOST_BYTES + 100


# Files --------------------------------------------------------------------------------------------


KEEP_FILE = f"most_bytes={MOST_BYTES}\n" + script("keep_file")
#: What the housekeeper does with a file, without its words around it.
GIVE = """
kind=$(kind_of "$1")
echo "$kind" >&2
case $kind in odd | "") ;; *) kept_of "$1" "$kind" ;; esac
"""


@pytest.fixture
def fetched(tmp_path):
    """Fetch a file as a node does: give its text and what is left out of it."""

    def go(name):
        done = subprocess.run(
            ["sh", "-c", KEEP_FILE + GIVE, "sh", str(tmp_path / name)],
            capture_output=True,
            timeout=20,
            check=True,
        )
        return done.stdout, cut_of_file(name, done.stderr.decode().strip())

    return go


def test_a_file_is_brought_back_whole(fetched, tmp_path):
    (tmp_path / "log").write_bytes(b"one\ntwo")
    assert fetched("log") == (b"one\ntwo", ())
    assert fetched("missing") == (b"", ())


def test_both_ends_of_a_huge_file_are_brought_back(fetched, tmp_path):
    count = MOST_BYTES // len(LINE) + 10
    (tmp_path / "log").write_bytes(b"first\n" + LINE * count + b"time 1.5 s\n")
    data, cut = fetched("log")
    lines = data.splitlines(keepends=True)
    assert (lines[0], lines[-1]) == (b"first\n", b"time 1.5 s\n")
    assert len([line for line in lines[1:-1] if line != LINE]) == 1
    assert "bytes, of which 32 MiB are kept" in cut[0]


def test_a_sparse_file_of_a_terabyte_is_not_read_whole(fetched, tmp_path):
    with (tmp_path / "log").open("wb") as file:
        file.truncate(1 << 40)
    data, cut = fetched("log")
    assert len(data) < MOST_BYTES and "1,099,511,627,776 bytes" in cut[0]


@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "dangling"])
def test_what_is_no_regular_file_is_not_waited_for(fetched, tmp_path, kind):
    place = tmp_path / "log"
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to("/dev/zero" if kind == "device" else "/nowhere")
    assert fetched("log") == (b"", ("log is not a regular file, and nothing of it is read",))


def test_names_that_look_like_options_are_files(tmp_path):
    (tmp_path / "-n").write_text("text")
    text = f'{KEEP_FILE}cd "$1" && kept_of -n "$(kind_of -n)"'
    done = subprocess.run(["sh", "-c", text, "sh", str(tmp_path)], capture_output=True, check=True)
    assert done.stdout == b"text"
    assert output_limit.cut_of_file("a", "") == ()


def test_a_node_that_is_talked_with_names_odd_files_and_gives_both_ends(tmp_path):
    folder = tmp_path / "work"
    line = ["sh", "-c", f"{house_script()}keep_house", "sh", "node1"]
    names = ("small", "huge", "fifo", "missing")
    with conversation({("node1",): line}) as talk, housekeeping(talk, {}) as house:
        house.begin("X=", (str(folder), ""), (), [("small", "text")])
        os.mkfifo(folder / "fifo")
        (folder / "huge").write_bytes(LINE * (MOST_BYTES // len(LINE) + 99) + b"time 1.5 s\n")
        house.start()
        house.stop()
        found = house.fetch("node1", names)
        cut = house.left_out("node1", names)
    assert (found["small"], found["fifo"], found["missing"]) == ("text", "", "")
    assert found["huge"].endswith("time 1.5 s\n") and len(found["huge"]) < MOST_BYTES
    assert len(cut) == 2
    assert (
        "huge has" in cut[0] and cut[1] == "fifo is not a regular file, and nothing of it is read"
    )
    assert not folder.exists()


def test_a_trace_is_compressed_where_it_lies(tmp_path):
    """Five bytes a call repeat: base64 of a trace took four times as much of the disk."""
    calls = b"BLTRACE\0" + bytes(range(5)) * 100_000
    path = tmp_path / "app.trace"
    path.write_bytes(base64.b64encode(calls))
    done = subprocess.run(
        ["sh", "-c", KEEP_FILE + GIVE, "sh", path], check=True, capture_output=True, text=True
    )
    assert done.returncode == 0 and done.stderr.strip() == str(len(done.stdout))
    assert gzip.decompress(base64.b64decode(done.stdout, validate=True)) == calls
    assert len(done.stdout) < len(calls) / 4
    assert [one.name for one in tmp_path.iterdir()] == ["app.trace"]
    # What is no base64 comes as it is.
    path.write_text("no trace at all !")
    again = subprocess.run(
        ["sh", "-c", KEEP_FILE + GIVE, "sh", path], check=True, capture_output=True, text=True
    )
    assert again.stdout == "no trace at all !"
