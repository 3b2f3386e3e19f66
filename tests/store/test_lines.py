"""Lines of records.jsonl: written, read one by one, read all at once, always the same."""

import io
import json
import math

import pytest
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from bareline.store.lines import from_line, to_line
from bareline.store.tables import read_tables
from bareline.testing.messages import raises
from bareline.vocabulary.message_codes import KEY_PREFIX
from bareline.vocabulary.model import (
    Case,
    Failed,
    Layout,
    Measured,
    Placement,
    Record,
    Sample,
    Stage,
    Trial,
    format_point,
)
from bareline.vocabulary.pinning import UNBOUND, Pinning

PROBES = {"null": {"metrics": {"time": {"unit": "s", "better": "lower"}}}}
PLATFORMS = {"a": {"type": "null"}, "b": {"type": "null"}}

texts = st.text(st.characters(codec="utf-8"), max_size=20)
samples = st.builds(
    Sample,
    st.just("time"),
    st.floats(allow_nan=False, allow_infinity=False),
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,8}", fullmatch=True),
        st.integers(-(2**53), 2**53) | st.booleans() | texts,
        max_size=2,
    ),
    st.tuples() | st.tuples(texts),
)
cases = st.builds(
    Case,
    probe=st.just("null"),
    params=st.just("") | st.just("points=3"),
    ranks=st.integers(0, 64),
    threads=st.integers(1, 8),
    nodes=st.none() | st.integers(1, 4),
    placement=st.sampled_from(Placement),
    profile=st.booleans(),
    pinning=st.sampled_from(["", "binding=none", "binding=core ranks_per_socket=2"]),
)
records = st.builds(
    Record,
    trial=st.builds(
        Trial,
        index=st.integers(0, 10**6),
        block=st.integers(0, 1000),
        platform=st.sampled_from(sorted(PLATFORMS)),
        case=cases,
        layout=st.none()
        | st.builds(
            Layout, *[st.integers(1, 9)] * 3, st.sampled_from([UNBOUND, Pinning("core", "cyclic")])
        ),
        timeout_s=st.floats(0.1, 1e6),
    ),
    outcome=st.builds(Measured, st.lists(samples, max_size=3).map(tuple))
    | st.builds(Failed, st.sampled_from(sorted(set(Stage) - {Stage.LAYOUT})), texts),
    started=texts,
    duration_s=st.floats(0, 1e6),
    caveats=st.tuples() | st.tuples(texts),
    clock=st.sampled_from(["wall", "simulated"]),
    attempt=st.integers(1, 9),
)


@settings(deadline=None)
@given(records)
def test_what_was_written_is_read(record):
    line = to_line(record)
    assert line.count("\n") == 1
    assert from_line(line.encode(), PROBES, PLATFORMS) == record


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(records, min_size=1, max_size=5), st.integers(1, 999))
def test_tables_hold_what_the_lines_hold_however_the_file_is_cut(written, piece):
    text = "".join(map(to_line, written)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bareline.store.tables._PIECE_BYTES", piece)
        trials, samples = read_tables(io.BytesIO(text + b'{"torn'), PROBES, PLATFORMS)
    last = {record.trial.index: row for row, record in enumerate(written)}
    assert trials["row"].to_list() == sorted(last.values())
    kept = [(row, one) for row, one in enumerate(written) if row in last.values()]
    assert trials["trial"].to_list() == [record.trial.index for _, record in kept]
    assert samples.select("row", "metric", "point", "value", "caveats").rows() == [
        (row, sample.metric, format_point(sample.point), sample.value,
         list(sample.caveats) or None)
        for row, record in kept
        for sample in getattr(record.outcome, "samples", ())
    ]  # fmt: skip


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_not_finite_is_never_written(value):
    record = Record(
        trial=Trial(index=0, block=0, platform="a", case=Case(probe="null"), layout=None),
        outcome=Measured((Sample("time", value),)),
        started="",
        duration_s=0.0,
    )
    with pytest.raises(ValueError, match="JSON compliant"):
        to_line(record)


def test_only_wanted_samples_are_kept():
    metrics = {name: {"unit": "s", "better": "lower"} for name in ("time", "other")}
    written = Record(
        trial=Trial(index=0, block=0, platform="a", case=Case(probe="null"), layout=None),
        outcome=Measured((Sample("time", 1.0, {"rank": 1}), Sample("other", 2.0))),
        started="",
        duration_s=0.0,
    )
    line = to_line(written).encode()
    read = from_line(line, {"null": {"metrics": metrics}}, PLATFORMS, {"null": ("time",)}.get)
    assert read.outcome == Measured(written.outcome.samples[:1])


GOOD = json.loads(
    to_line(
        Record(
            trial=Trial(index=0, block=0, platform="a", case=Case(probe="null"), layout=Layout()),
            outcome=Measured((Sample("time", 1.0),)),
            started="now",
            duration_s=1.0,
        )
    )
)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"platform": "x"}, "BL-STORE-159"),
        ({"probe": "x"}, "BL-STORE-700"),
        ({"trial": -1}, "BL-KEY-GREATER-THAN-EQUAL"),
        ({"trial": "0"}, "BL-KEY-INT-TYPE"),
        ({"status": "fine"}, "BL-KEY-LITERAL-ERROR"),
        ({"status": "failed"}, "BL-STORE-711"),
        ({"clock": "moon"}, "BL-KEY-LITERAL-ERROR"),
        ({"samples": [{"metric": "x", "point": "", "value": 1.0}]}, "BL-STORE-577"),
        ({"samples": [{"metric": "time", "point": "=", "value": 1.0}]}, "BL-VOCABULARY-886"),
        ({"params": "a b"}, "BL-VOCABULARY-886"),
        ({"ranks": 2**31}, "BL-KEY-LESS-THAN-EQUAL"),
        ({"threads": 0}, "BL-KEY-GREATER-THAN-EQUAL"),
        ({"nodes": -1}, "BL-KEY-GREATER-THAN-EQUAL"),
        ({"attempt": 0}, "BL-KEY-GREATER-THAN-EQUAL"),
        ({"block": 2**40}, "BL-KEY-LESS-THAN-EQUAL"),
        ({"session": 0}, "BL-KEY-GREATER-THAN-EQUAL"),
        ({"boot": 0}, "BL-KEY-GREATER-THAN-EQUAL"),
        ({"layout": ""}, "BL-VOCABULARY-184"),
        ({"layout": "2x1"}, "BL-VOCABULARY-184"),
        ({"layout": "0x1x1"}, "BL-VOCABULARY-184"),
        ({"layout": f"{'9' * 30}x1x1"}, "BL-VOCABULARY-184"),
    ],
)
def test_damage_is_refused_with_its_code(change, code):
    line = (json.dumps({**GOOD, **change}) + "\n").encode()
    keys = list(change) if code.startswith(KEY_PREFIX) else []
    with raises(ValueError, code, *keys):
        from_line(line, PROBES, PLATFORMS)
    with raises(ValueError, code, *keys):  # also in samples that nobody wants
        from_line(line, PROBES, PLATFORMS, lambda _: ())
    if "trial" not in change:
        with pytest.raises(ValueError, match=r".+"):
            read_tables(io.BytesIO(line), PROBES, PLATFORMS)
