"""The trace: what a replay needs of every call, small, bounded, and whole or refused."""

from __future__ import annotations

import base64
import contextlib
import gzip
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from bareline.profile.files import read_profile
from bareline.profile.records import NOBODY
from bareline.profile.trace import Trace, read_trace, trace_of
from bareline.session.profiling import parse_limit
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ProfileError

from .conftest import Bench

mpi = pytest.mark.mpi


def traced(bench: Bench, ranks: int, program: str, *arguments: str, limit: str = "") -> Trace:
    path = bench.folder / "app.trace"
    bench.profile(
        ranks,
        program,
        *arguments,
        env={"BARELINE_TRACE": str(path), "BARELINE_TRACE_LIMIT": limit},
    )
    return read_trace(path)


@mpi
def test_the_trace_holds_every_call_that_the_profile_counts(bench: Bench) -> None:
    trace = traced(bench, 4, "collectives")
    assert trace.why_partial == "" and trace.ranks == 4
    assert not (bench.folder / "app.trace.journal").exists()
    told = Counter[str]()
    for stream in trace.streams:
        names = [stream.shapes[number].call for number in stream.shape]
        assert names[-1] == "compute"
        told.update(name for name in names if name not in ("compute", "done"))
    profile = read_profile(bench.folder / "app.profile")
    counted = profile.calls.filter(
        ~pl.col("call").str.starts_with("MPI_Init") & (pl.col("kind") != "posix-io")
    )
    by_call = counted.group_by("call").agg(pl.col("count").sum()).iter_rows()
    assert {name: told[name] for name in told if name.startswith("MPI")} == dict(by_call)
    # Members know their communicator by one mark, and the root by its rank of the whole job.
    gathers = {
        (shape.comm, shape.root)
        for stream in trace.streams
        for shape in stream.shapes
        if shape.call == "MPI_Scatterv"
    }
    assert len(gathers) == 1
    # Computing and calls together are the time of the rank.
    for stream, wall in zip(trace.streams, profile.rank_table["wall_ns"], strict=True):
        total = float(stream.compute_s.sum() + stream.spent_s.sum())
        assert total <= 1.02e-9 * wall


@mpi
def test_completed_requests_name_their_posts(bench: Bench) -> None:
    trace = traced(bench, 2, "overlap")
    for stream in trace.streams:
        open_posts: list[int] = []
        posts = done = 0
        for number in stream.shape:
            shape = stream.shapes[number]
            if shape.posts:
                posts += 1
                open_posts.append(posts)
                assert (shape.size, shape.element) == (800, 8)
                assert shape.to != NOBODY or shape.from_ != NOBODY or shape.kind == "collective"
            elif shape.kind == "done":
                open_posts.remove(posts - shape.to)
                done += 1
        assert posts == done > 0 and not open_posts


@mpi
def test_a_full_trace_and_a_paused_one_say_so(bench: Bench) -> None:
    full = traced(bench, 2, "threads", limit="1")
    assert full.streams[0].lost >= 0
    paused = traced(bench, 4, "planted", str(bench.folder / "data"))
    assert "calls are missing" in paused.why_partial


@mpi
@pytest.mark.parametrize("way", ["abort", "kill"])
def test_what_a_killed_program_leaves_is_read(bench: Bench, way: str) -> None:
    path = bench.folder / "app.trace"
    bench.launch(2, "ending", way, env={"BARELINE_TRACE": str(path)})
    left = read_trace(path)
    assert left.path.name == "app.trace.journal" and left.ranks == 2
    names = [left.streams[0].shapes[number].call for number in left.streams[0].shape]
    assert names.count("MPI_Send") == 10
    assert "ended before MPI_Finalize" in left.why_partial


@mpi
def test_damage_is_one_line(bench: Bench) -> None:
    path = bench.folder / "app.trace"
    traced(bench, 2, "overlap")
    whole = path.read_bytes()
    raw = base64.b64decode(whole)
    at = raw.index(b"\0" * 64, 65536 + 200)
    for bad in (
        whole[: len(whole) // 2],
        whole[:-7],
        base64.b64encode(raw[: len(raw) // 2]),
        base64.b64encode(raw[: 65536 + 50]),
        base64.b64encode(raw[:8] + b"\x09" + raw[9:]),
    ):
        path.write_bytes(bad)
        with pytest.raises(ProfileError) as caught:
            read_trace(path)
        assert "\n" not in str(caught.value) and path.name in str(caught.value)
    # Garbled in its middle it is refused, or reads as something else; it never ends in a traceback.
    for spoiled in (raw[: at - 3] + b"\xff" * 8 + raw[at + 5 :], raw[:-40] + b"\xff" * 40):
        path.write_bytes(base64.b64encode(spoiled))
        with contextlib.suppress(ProfileError):
            read_trace(path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "BL-PROFILE-386"),
        (b"hello", "BL-PROFILE-657"),
        (b"BLTRACE\0", "BL-PROFILE-729"),
        (b"BLTRACE\0" + b"\7" * 70_000, "BL-PROFILE-892"),
    ],
)
def test_what_is_no_trace_is_refused(content: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "app.trace"
    path.write_bytes(content)
    with raises(ProfileError, code, "app.trace") as caught:
        read_trace(path)
    assert "\n" not in str(caught.value)


def test_profiles_of_several_counts_have_a_trace_each() -> None:
    names = {trace_of(Path(name)).name for name in ("app.p8", "app.p16", "app.profile", "app")}
    assert names == {"app.p8.trace", "app.p16.trace", "app.trace"}


@mpi
def test_a_compressed_trace_is_the_same(bench: Bench) -> None:
    plain = traced(bench, 2, "overlap")
    path = bench.folder / "app.trace"
    raw = base64.b64decode(path.read_bytes())
    path.write_bytes(base64.b64encode(gzip.compress(raw)))
    packed = read_trace(path)
    for one, other in zip(plain.streams, packed.streams, strict=True):
        assert one.shapes == other.shapes and (one.spent_s == other.spent_s).all()
    cut_off = (gzip.compress(raw)[:-100], "BL-PROFILE-729")
    not_compressed = (b"\x1f\x8b" + raw, "BL-PROFILE-657")
    for bad, code in (cut_off, not_compressed):
        path.write_bytes(base64.b64encode(bad))
        with raises(ProfileError, code, "app.trace"):
            read_trace(path)


def test_limits_on_the_command_line() -> None:
    assert parse_limit("64MB") == 64_000_000 and parse_limit("1 KiB") == 1024
    for wrong in ("", "0MB", "5", "-3MB", "1e9GB"):
        with raises(ProfileError, "BL-SESSION-839"):
            parse_limit(wrong)
