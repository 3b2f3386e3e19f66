"""Periods of strangers: each value odd in turn; refused by line and key, before it takes memory."""

import json
import tracemalloc

import numpy as np
import pytest

from bareline.profile.period import ProgramPeriod, read_period, write_period
from bareline.profile.records import NOBODY, Shape
from bareline.profile.trace import CallStream, Trace
from bareline.testing.hostile import damaged, survives
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ProfileError

#: Code of a key that has another value than its type allows.
INVALID_KEY = "BL-PROFILE-980"


@pytest.fixture
def good(tmp_path):
    """Write a period of two ranks that talk with each other; gives its lines."""
    streams = []
    for rank in range(2):
        other = 1 - rank
        shapes = (
            Shape("MPI_Irecv", "receive", True, NOBODY, other, NOBODY, -1, 3, 1, 2, 8, 0, 8),
            Shape("MPI_Send", "send", False, other, NOBODY, NOBODY, 3, -1, 1, 2, 8, 8, 0),
            Shape("done", "done", False, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            Shape("MPI_Wait", "wait", False, NOBODY, NOBODY, NOBODY, -1, -1, 0, 0, 0, 0, 0),
        )
        calls = np.arange(4, dtype=np.int32)
        times_s = np.full(4, 1e-6)
        streams.append(CallStream(rank, shapes, calls, times_s, times_s, finished=True, lost=0))
    trace = Trace(tmp_path / "app.trace", 2, 1, "./app", tuple(streams))
    path = tmp_path / "app.period"
    write_period(ProgramPeriod(trace, repeats=9, calls=4, beside=2, shared=False), path)
    assert read_period(path).ranks == 2
    return path.read_text().splitlines()


@pytest.mark.timeout(200)
@pytest.mark.parametrize("line", [0, 1, 2])
def test_every_damaged_period_is_read_or_refused(good, line, tmp_path):
    path = tmp_path / "x.period"
    outcomes = []
    for description, text in damaged(json.loads(good[line])):
        path.write_text("\n".join([*good[:line], text, *good[line + 1 :]]), encoding="utf-8")
        outcomes.append(survives(lambda: read_period(path), f"line {line + 1}: {description}"))
    assert len(outcomes) > 350
    assert not all(outcomes)


def _with(good, line, path, value):
    row = json.loads(good[line])
    table = row
    for key in path[:-1]:
        table = table[key]
    table[path[-1]] = value
    return "\n".join([*good[:line], json.dumps(row), *good[line + 1 :]])


@pytest.mark.parametrize(
    ("ranks", "code"),
    [
        (1_000_000_000, "BL-PROFILE-980"),
        (20_000_000, "BL-PROFILE-980"),
        (4_000_000, "BL-PROFILE-925"),
        (3, "BL-PROFILE-925"),
        (1, "BL-PROFILE-925"),
    ],
)
def test_a_claim_of_many_ranks_is_refused_before_it_takes_memory(good, ranks, code, tmp_path):
    path = tmp_path / "x.period"
    path.write_text(_with(good, 0, ["ranks"], ranks))
    tracemalloc.start()
    try:
        with raises(ProfileError, code, "line 1", "'ranks'"):
            read_period(path)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 80 << 20  # of them 64 MiB are the room for the file itself


@pytest.mark.parametrize(
    ("line", "place", "value", "code"),
    [
        (1, ["shapes", 0, 0], None, INVALID_KEY),
        (2, ["shapes", 1, 3], "text", INVALID_KEY),
        (1, ["shapes", 0, 2], 7, INVALID_KEY),
        (1, ["shapes", 0, 2], "yes", INVALID_KEY),
        (1, ["shapes", 2, 2], True, "BL-PROFILE-979"),
        (1, ["shapes", 0, 9], -5, INVALID_KEY),
        (1, ["shapes", 0, 3], 2, "BL-PROFILE-979"),
        (1, ["shapes"], [], "BL-PROFILE-687"),
        (1, ["calls", 0], 4, "BL-PROFILE-687"),
        (1, ["calls"], [], INVALID_KEY),
        (1, ["compute_s"], [0.1], "BL-PROFILE-946"),
        (1, ["compute_s", 0], float("nan"), INVALID_KEY),
        (1, ["rank"], 1, "BL-PROFILE-880"),
        (0, ["repeats"], 0, INVALID_KEY),
        (0, ["began_unix_ns"], 1.5, INVALID_KEY),
        (0, ["command"], None, INVALID_KEY),
        (0, ["schema"], "x", INVALID_KEY),
        (0, ["version"], 99, INVALID_KEY),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_line_and_key(good, line, place, value, code, tmp_path):
    path = tmp_path / "x.period"
    path.write_text(_with(good, line, place, value))
    key = ".".join(map(str, place))
    named = [f"line {line + 1}: ", f"'{key}'"] if code == INVALID_KEY else []
    with raises(ProfileError, code, *named):
        read_period(path)


@pytest.mark.parametrize("posts", [(0, False), (1, True)])
def test_a_request_that_is_posted_by_another_call_is_not_complete(good, posts, tmp_path):
    index, value = posts
    path = tmp_path / "x.period"
    path.write_text(_with(good, 1, ["shapes", index, 2], value))
    if value:
        assert read_period(path).ranks == 2
        return
    with raises(ProfileError, "BL-PROFILE-855"):
        read_period(path)
