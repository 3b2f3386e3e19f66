"""Profiles as files: what was written is read; what is not whole is refused with one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bareline.profile.files import is_profile, read_profile, to_rows, write_profile
from bareline.profile.journal import journal_of
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ProfileError

SAMPLE = Path(__file__).parent / "data" / "planted.profile"


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    profile = read_profile(SAMPLE)
    copy = tmp_path / "copy.profile"
    write_profile(profile, copy)
    again = read_profile(copy)
    assert again.header() == profile.header()
    assert again.rank_table.equals(profile.rank_table)
    assert again.call_table.equals(profile.call_table)
    assert again.send_table.equals(profile.send_table)


def test_rows_are_in_si_units() -> None:
    rows = to_rows(read_profile(SAMPLE))
    kinds = [row["type"] for row in rows]
    assert kinds[0] == "profile" and {"rank", "call", "sends"} == set(kinds[1:])
    assert not any(name.endswith(("_ns", "_ns2")) for row in rows for name in row)
    stored = next(line for line in lines_of(SAMPLE) if line.get("call") == "MPI_Allreduce")
    shown = next(row for row in rows if row.get("call") == "MPI_Allreduce")
    assert shown["time_s"] == pytest.approx(stored["time_ns"] * 1e-9)
    json.dumps(rows, allow_nan=False)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda _: b"", "BL-PROFILE-912"),
        (lambda _: b"\n\n", "BL-PROFILE-912"),
        (lambda _: b"hello\n", "BL-PROFILE-244"),
        (lambda _: b"\x00\xff\x00", "BL-PROFILE-244"),
        (lambda _: b"[1, 2]\n", "BL-PROFILE-609"),
        (lambda _: b'{"schema": "other.tool"}\n', "BL-PROFILE-465"),
        (lambda text: text.replace(b'"version":1', b'"version":9'), "BL-PROFILE-943"),
        (lambda text: text[: len(text) // 2], "BL-PROFILE-244"),
        (lambda text: text[: text.rindex(b'{"type":"end"')], "BL-PROFILE-526"),
        (lambda text: b"\n".join(text.split(b"\n")[:5] + text.split(b"\n")[6:]), "BL-PROFILE-227"),
        (lambda text: text.replace(b'"count":', b'"cuont":', 1), "BL-PROFILE-978"),
        (lambda text: text.replace(b'"bytes":9600', b'"bytes":"many"'), "BL-PROFILE-344"),
        (lambda text: text.replace(b'"bytes":9600', b'"bytes":null'), "BL-PROFILE-958"),
        (lambda text: text.replace(b'"type":"call"', b'"type":"kall"', 1), "BL-PROFILE-594"),
        (lambda text: text.replace(b'"ranks":4', b'"ranks":5', 1), "BL-PROFILE-140"),
        (lambda text: text.replace(b'"ranks":4', b'"ranks":"4"', 1), "BL-PROFILE-643"),
        (
            lambda text: text.replace(b'"ranks_per_cell":1', b'"ranks_per_cell":0'),
            "BL-PROFILE-643",
        ),
        (lambda text: text.replace(b'"to":[1,3]', b'"to":[1]', 1), "BL-PROFILE-631"),
        (lambda text: text.replace(b'"to":[1,3]', b'"to":[1,9]', 1), "BL-PROFILE-629"),
        (lambda text: text.replace(b'"type":"rank"', b'"type":"rank', 1), "BL-PROFILE-258"),
    ],
)
def test_what_is_not_whole_is_refused_with_one_line(
    tmp_path: Path, change: Callable[[bytes], bytes], code: str
) -> None:
    content = SAMPLE.read_bytes()
    spoiled = change(content)
    assert spoiled != content
    path = tmp_path / "spoiled.profile"
    path.write_bytes(spoiled)
    with raises(ProfileError, code) as caught:
        read_profile(path)
    assert "\n" not in str(caught.value) and "spoiled.profile" in str(caught.value)
    assert caught.value.exit_code == 2


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with raises(ProfileError, "BL-PROFILE-518"):
        read_profile(tmp_path / "none.profile")
    with raises(ProfileError, "BL-PROFILE-148"):
        read_profile(tmp_path)
    assert not is_profile(tmp_path)
    assert not is_profile(tmp_path / "none.profile")


def test_journals_that_are_damaged(tmp_path: Path) -> None:
    journal = journal_of(tmp_path / "app.profile")
    journal.write_bytes(b"BLJRNL\n\0" + b"\x07" * 100)
    with raises(ProfileError, "BL-PROFILE-803"):
        read_profile(journal)
    journal.write_bytes(b"BLJRNL\n\0" + b"\x07" * 40_000)
    with raises(ProfileError, "BL-PROFILE-273"):
        read_profile(tmp_path / "app.profile")


# A busy machine draws data slowly; that says nothing about the reader.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_no_damage_ends_in_anything_but_a_profile_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(SAMPLE.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at : at + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=30))
    path = tmp_path_factory.mktemp("damage") / "damaged.profile"
    path.write_bytes(bytes(content))
    refusal = ""
    calls = None
    try:
        calls = read_profile(path).calls
    except ProfileError as error:
        refusal = str(error)
    assert isinstance(calls, pl.DataFrame) != bool(refusal)
    assert "\n" not in refusal
