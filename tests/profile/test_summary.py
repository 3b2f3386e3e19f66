"""The tables and the page made of a profile."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from rich.console import Console
from typer.testing import CliRunner

from bareline.cli.main import app
from bareline.platforms.hosts.launchers.installation import MpiInstallation
from bareline.profile.files import is_profile, read_profile
from bareline.profile.model import Profile
from bareline.profile.summary import (
    Matrix,
    communication_matrix,
    imbalance,
    region_split,
    remarks,
    sizes,
    time_split,
    top_calls,
)
from bareline.report.page.files import write_file
from bareline.report.profile.page import render_profile_page
from bareline.report.profile.tables import findings, size_range
from bareline.report.profile.terminal import profile_blocks
from bareline.report.writers.terminal import print_blocks
from bareline.session.mpi_program import why_nothing
from bareline.session.preloading import preloaded
from bareline.session.profiling import parse_regions
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ProfileError
from bareline.vocabulary.units import percent_tenths

from .planted import PLANTED, PLANTED_SENDS

SAMPLE = Path(__file__).parent / "data" / "planted.profile"


@pytest.fixture(scope="module")
def profile() -> Profile:
    return read_profile(SAMPLE)


def many_ranks(profile: Profile, ranks: int) -> Profile:
    """Repeat the sample's ranks, each sending to the next one."""
    table = pl.concat([profile.rank_table.head(1)] * ranks).with_columns(
        rank=pl.int_range(ranks, dtype=pl.Int64)
    )
    sends = pl.DataFrame(
        {
            "from": list(range(ranks)),
            "to": [(rank + 1) % ranks for rank in range(ranks)],
            "count": [1] * ranks,
            "bytes": [8] * ranks,
        }
    )
    return replace(profile, ranks=ranks, rank_table=table, send_table=sends)


def test_parts_of_the_time_add_up(profile: Profile) -> None:
    split = time_split(profile)
    assert sum(part.share for part in split if not part.is_part) == pytest.approx(1, abs=0.01)
    calls = next(part for part in split if part.what == "MPI calls")
    assert sum(part.share for part in split if part.is_part) == pytest.approx(calls.share)


def test_top_calls_hold_every_call_but_start_up(profile: Profile) -> None:
    calls = top_calls(profile)
    assert sum(call.share for call in calls) == pytest.approx(1)
    times = [call.time_s for call in calls]
    assert times == sorted(times, reverse=True)
    planted = {key[0] for key in PLANTED if key[0] != "MPI_Init"}
    assert planted <= {call.call for call in calls}
    sendrecv = next(call for call in calls if call.call == "MPI_Sendrecv")
    assert (sendrecv.count, sendrecv.bytes) == (12, 1984)
    assert sendrecv.overlap_s is None and sendrecv.waited is None


def test_sizes_are_grouped_by_powers_of_two(profile: Profile) -> None:
    reductions = [size for size in sizes(profile) if size.call == "MPI_Allreduce"]
    assert [(size.low, size.high, size.count) for size in reductions] == [
        (24, 24, 4),
        (200, 200, 8),
        (800, 800, 12),
    ]
    # 64 and 68 B fall between 64 and 128.
    broadcasts = [size for size in sizes(profile) if size.call == "MPI_Bcast"]
    assert [(size.low, size.high, size.count) for size in broadcasts] == [(44, 44, 4), (64, 68, 16)]


def test_matrix_keeps_every_byte_when_ranks_share_cells(profile: Profile) -> None:
    whole = communication_matrix(profile, 64)
    assert {
        (i, j): (int(whole.count[i, j]), int(whole.bytes[i, j]))
        for i, j in zip(*np.nonzero(whole.count), strict=True)
    } == PLANTED_SENDS
    half = communication_matrix(profile, 2)
    assert half.block == 2 and half.bytes.shape == (2, 2)
    assert half.bytes.sum() == whole.bytes.sum()
    large = communication_matrix(many_ranks(profile, 101), 32)
    assert large.block == 4 and large.count.sum() == 101


def test_pairs_that_send_about_the_same_look_the_same() -> None:
    sent = np.array([[0, 1000, 990], [1000, 0, 10], [1, 0, 0]])
    strength = Matrix(np.sign(sent), sent, 1).strength
    assert strength[0, 1] == strength[1, 0] == 1 and strength[0, 2] > 0.99
    assert strength[2, 0] == strength[0, 0] == 0 < strength[1, 2] < 0.5
    equal = Matrix(np.sign(sent), np.sign(sent) * 7, 1).strength
    assert set(equal.flat) == {0.0, 1.0}
    assert not Matrix(np.sign(sent), sent * 0, 1).strength.any()


def test_imbalance_and_regions(profile: Profile) -> None:
    uneven = imbalance(profile)
    times = profile.rank_table["compute_ns"].to_numpy()
    assert uneven.slowest == int(times.argmax())
    assert uneven.factor == pytest.approx(times.max() / times.mean())
    assert [name for name, _, _ in region_split(profile)] == ["outside", "region 5"]
    named = replace(profile, regions={0: "", 5: "solver"})
    assert region_split(named)[1][0] == "solver"
    outside = profile.call_table.filter(pl.col("region") == 0)
    assert region_split(replace(profile, call_table=outside)) == []


def test_remarks_say_what_limits_the_numbers(profile: Profile) -> None:
    assert remarks(replace(profile, rank_table=quiet(profile))) == []
    spoiled = quiet(profile).with_columns(
        dropped=pl.lit(2, pl.Int64), untracked=pl.lit(1, pl.Int64), steal_ns=pl.col("wall_ns") // 2
    )
    text = " ".join(
        remarks(replace(profile, complete=False, ended="ended before", rank_table=spoiled))
    )
    for part in ("unfinished: ended before", "8 calls did not fit", "4 requests"):
        assert part in text
    little = quiet(profile).with_columns(steal_ns=pl.col("wall_ns") // 40)
    assert "up to 2%" in " ".join(remarks(replace(profile, rank_table=little)))


def test_ranks_without_a_core_are_said_before_the_split(profile: Profile) -> None:
    assert findings(replace(profile, rank_table=quiet(profile)))[0].startswith("Of ")
    crowded = quiet(profile).with_columns(queued_ns=(pl.col("wall_ns") * 0.75).cast(pl.Int64))
    first = findings(replace(profile, rank_table=crowded))[0]
    assert "had no core for 75.0 % of their time" in first
    text = text_of(replace(profile, rank_table=crowded))
    assert text.index("had no core") < text.index("computing")
    stolen = quiet(profile).with_columns(steal_ns=pl.col("wall_ns") // 2)
    assert "took up to 50.0 %" in findings(replace(profile, rank_table=stolen))[0]


def test_computing_of_many_threads_is_the_main_ones(profile: Profile) -> None:
    assert not any("main threads" in text for text in findings(profile))
    threaded = profile.rank_table.with_columns(
        threads=pl.lit(5, pl.Int64), mpi_ns=pl.lit(0, pl.Int64)
    )
    told = " ".join(findings(replace(profile, rank_table=threaded)))
    assert "main threads' times; other threads (4 per rank) spent" in told


@pytest.mark.parametrize("name", ["killed.profile", "killed.profile.journal"])
def test_the_journal_of_a_killed_run_is_found_by_the_profiles_name(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "killed.profile.journal").write_bytes(b"BLJRNL\n\0")
    assert is_profile(tmp_path / name)
    shown = CliRunner().invoke(app, ["show", str(tmp_path / name)])
    assert isinstance(shown.exception, ProfileError) and "journal is cut off" in str(
        shown.exception
    )
    assert not is_profile(tmp_path) and not is_profile(tmp_path / "other.profile")


def test_why_nothing_was_profiled_is_said(tmp_path: Path) -> None:
    mpi = MpiInstallation("openmpi", "Open MPI 4", "mpirun", "mpicc")
    assert "/true is linked with no MPI library" in why_nothing(["mpirun", "-n", "2", "true"], mpi)
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o4755)
    assert "set-uid" in why_nothing([str(script)], mpi)
    script.chmod(0o755)
    for cause in ("no MPI function", "statically", "set-uid", "another MPI library"):
        assert cause in why_nothing([str(script)], mpi)


def quiet(profile: Profile) -> pl.DataFrame:
    zero = pl.lit(0, pl.Int64)
    return profile.rank_table.with_columns(
        steal_ns=zero, queued_ns=zero, clock_source=pl.lit("tsc")
    )


def text_of(profile: Profile, *, everything: bool = False) -> str:
    stream = io.StringIO()
    print_blocks(profile_blocks(profile, everything=everything), Console(file=stream, width=100))
    return stream.getvalue()


def test_terminal_fits_100_columns_and_says_the_numbers(profile: Profile) -> None:
    text = text_of(profile)
    assert max(map(len, text.splitlines())) <= 100
    for part in ("MPI_File_sync", "computing", "Who sends to whom", "--all shows them", "region 5"):
        assert part in text
    everything = text_of(profile, everything=True)
    assert "MPI_Start (send)" in everything and "--all" not in everything
    large = text_of(many_ranks(profile, 1000))
    assert "32 ranks a row" in large and max(map(len, large.splitlines())) <= 100


def test_hostile_names_do_not_reach_the_terminal_or_the_page(profile: Profile) -> None:
    hostile = replace(
        profile,
        command="\x1b[31m<script>alert(1)</script> [bold]",
        rank_table=profile.rank_table.with_columns(host=pl.lit("<b>node</b>")),
        regions={0: "", 5: "<i>solver</i>"},
    )
    assert "\x1b" not in text_of(hostile) and "[bold]" in text_of(hostile)
    page = render_profile_page(hostile)
    assert "<script>alert" not in page and "<b>node" not in page and "<i>solver" not in page


def test_empty_profile_has_a_page_and_a_text(profile: Profile) -> None:
    empty = replace(
        profile,
        call_table=profile.call_table.clear(),
        send_table=profile.send_table.clear(),
    )
    assert "planted" in text_of(empty)
    assert "<h1>planted</h1>" in render_profile_page(empty)


def test_page_is_one_file_without_network(profile: Profile) -> None:
    page = render_profile_page(profile)
    assert 'id="matrix"' in page and 'id="calls"' in page and 'id="ranks"' in page
    assert not re.search(r"(src|href)=\"(https?:)?//", page)
    assert 'download="profile.json"' in page
    assert len(render_profile_page(many_ranks(profile, 2000))) < 3_000_000


@pytest.mark.browser
def test_page_in_a_browser(profile: Profile, tmp_path: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    page_file = write_file(tmp_path / "profile.html", render_profile_page(profile))
    with playwright.sync_playwright() as session:
        try:
            browser = session.chromium.launch(
                executable_path=next(iter(Path("/usr/bin").glob("chromium"))), args=["--no-sandbox"]
            )
        except (StopIteration, playwright.Error) as error:
            pytest.skip(f"no Chromium: {error}")
        errors: list[str] = []
        for width in (360, 1400):
            page = browser.new_page(viewport={"width": width, "height": 800})
            page.on("console", lambda message: errors.append(message.text))
            page.goto(page_file.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            # A frame and one square for each pair that exchanges messages.
            squares = page.locator("#matrix svg [data-tip]").count()
            assert squares == len(PLANTED_SENDS)
            assert page.locator("#calls tbody tr").count() == len(top_calls(profile))
        browser.close()
    assert errors == []


def test_command_lines_of_launchers() -> None:
    variables = {"LD_PRELOAD": "/lib/p.so", "BARELINE_PROFILE": "/tmp/a"}
    line, environment = preloaded(["mpirun", "-n", "2", "./a"], "openmpi", variables)
    assert line == [
        *("mpirun", "-x", "LD_PRELOAD=/lib/p.so", "-x", "BARELINE_PROFILE=/tmp/a"),
        *("-n", "2", "./a"),
    ]
    assert environment.get("LD_PRELOAD") != "/lib/p.so"
    several = ["mpirun", "-n", "1", "./a", ":", "-n", "2", "./b"]
    line, _ = preloaded(several, "openmpi", {"LD_PRELOAD": "/lib/p.so"})
    export = ["-x", "LD_PRELOAD=/lib/p.so"]
    assert line == ["mpirun", *export, "-n", "1", "./a", ":", *export, "-n", "2", "./b"]
    line, _ = preloaded(["/opt/bin/mpiexec.hydra", "./a"], "mpich", variables)
    assert line[1:4] == ["-genv", "LD_PRELOAD", "/lib/p.so"] and line[-1] == "./a"
    line, environment = preloaded(["srun", "./a"], "openmpi", variables)
    assert line == ["srun", "./a"] and environment["LD_PRELOAD"] == "/lib/p.so"


def test_regions_on_the_command_line() -> None:
    assert parse_regions(["3=solver", "200=a b"]) == {3: "solver", 200: "a b"}
    for wrong in ("solver", "2=x", "256=x", "3=", "3=a,b", '3="'):
        with raises(ProfileError, "BL-SESSION-414"):
            parse_regions([wrong])


def test_numbers_in_words() -> None:
    assert percent_tenths(0.1234) == "12.3 %"
    assert size_range(8, 8) == "8 B"
    assert size_range(64, 127) == "64 to 127 B"
    assert size_range(1024, 2047) == "1 to 2 KiB"
    assert size_range(512, 1023) == "512 B to 1 KiB"
    assert size_range(53_130, 53_140) == "51.9 KiB"
