"""Imported years in any order: what was measured last is last, and where that is from."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bareline.session.dating import launch_date, parse_date
from bareline.testing.messages import raises
from bareline.vocabulary.dates import DateSource
from bareline.vocabulary.errors import UsageError

_OSU = "# OSU MPI Barrier Latency Test v5.8\n# Avg Latency(us)\n{:>24.2f}\n"
_DATED = Path(__file__).parents[1] / "formats" / "data" / "composed" / "imb.v2021_p2p.out"


def import_year(bareline, year: int, latency_us: float, *options: object) -> None:
    """Import six launches of a year, whose files have its date."""
    folder = Path(str(year))
    folder.mkdir()
    for launch in range(6):
        output = folder / f"l{launch}.txt"
        output.write_text(_OSU.format(latency_us + launch / 100))
        moment = datetime(year, 3, 1, launch, tzinfo=UTC).timestamp()
        os.utime(output, (moment, moment))
    line = ["import", folder, "--platform", "p", "--ranks", 2, "-o", f"R{year}"]
    assert bareline(*line, *options)[0] == 0


def trend_rows(bareline) -> list[dict]:
    code, out, _ = bareline("trend", *sorted(Path().glob("R*")), "--json")
    assert code == 0
    return [row for row in json.loads(out) if row["headline"]]


def test_the_files_times_give_the_order_with_a_caveat(bareline):
    for year, latency_us in ((2022, 1.6), (2020, 1.2), (2021, 1.2)):
        import_year(bareline, year, latency_us)
    (row,) = trend_rows(bareline)
    assert [run["run"] for run in row["runs"]] == ["R2020", "R2021", "R2022"]
    assert [run["created"][:10] for run in row["runs"]] == [
        "2020-03-01",
        "2021-03-01",
        "2022-03-01",
    ]
    assert all(run["file_date"] for run in row["runs"])
    _, out, _ = bareline("trend", "R2020", "R2021", "R2022")
    printed = " ".join(out.split())
    assert "The outputs of R2020, R2021 and R2022 give no date" in printed
    assert "`bareline import --date`" in printed


def test_a_date_that_is_given_stands_before_the_files_times(bareline):
    import_year(bareline, 2020, 1.2, "--date", "2023-07-01")
    import_year(bareline, 2021, 1.6, "--date", "2019-07-01T10:30")
    (row,) = trend_rows(bareline)
    assert [run["run"] for run in row["runs"]] == ["R2021", "R2020"]
    assert row["runs"][0]["created"].startswith("2019-07-01T10:30:00")
    assert not any(run["file_date"] for run in row["runs"])
    _, out, _ = bareline("trend", "R2020", "R2021")
    assert "give no date" not in " ".join(out.split())


def test_the_date_in_an_output_stands_before_all(bareline):
    for name, day in (("later", "2024"), ("sooner", "2018")):
        output = Path(f"{name}.out")
        output.write_text(_DATED.read_text().replace("08:15:30 2024", f"08:15:30 {day}"))
        line = ["import", output, "--platform", "p", "--date", "2021-01-01", "-o", f"R{name}"]
        assert bareline(*line)[0] == 0
    row = trend_rows(bareline)[0]
    assert [run["run"] for run in row["runs"]] == ["Rsooner", "Rlater"]
    assert row["runs"][0]["created"].startswith("2018-03-12T08:15:30")
    assert not any(run["file_date"] for run in row["runs"])


def test_a_run_with_dated_and_undated_outputs_says_so(bareline):
    import_year(bareline, 2020, 1.2, "--date", "2020-01-01")
    import_year(bareline, 2021, 1.2)
    assert bareline("import", "2021", "--platform", "q", "-o", "R2020", "--ranks", 2)[0] == 0
    rows = trend_rows(bareline)
    assert {run["run"]: run["file_date"] for run in rows[0]["runs"]} == {
        "R2020": True,
        "R2021": True,
    }


@pytest.mark.parametrize(
    "text", ["yesterday", "2024-13-01", "", "20", "2024-02-30", "1\n2", "x" * 999]
)
def test_what_is_no_date_is_refused(bareline, text):
    Path("l.txt").write_text(_OSU.format(1.0))
    given = ("--platform", "p", "-o", "R", "--date", text, "--verbose")
    code, _, err = bareline("import", "l.txt", *given)
    assert code == 2
    assert "[BL-SESSION-263]" in err
    assert not Path("R").exists()


@pytest.mark.parametrize("text", ["0001-01-01T00:00+23:00", "9999-12-31T23:00-23:00"])
def test_dates_beyond_the_calendar_are_refused(text):
    with raises(UsageError, "BL-SESSION-263"):
        parse_date(text)


def test_a_zone_is_taken_into_account():
    assert parse_date("2024-02-05T10:30+02:00") == datetime(2024, 2, 5, 8, 30, tzinfo=UTC)


def test_a_file_that_went_away_is_of_now(tmp_path):
    date = launch_date(None, None, tmp_path / "absent")
    assert date.source is DateSource.FILE
    assert abs((datetime.now(UTC) - date.began).total_seconds()) < 60
