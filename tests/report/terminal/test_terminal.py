import io
from collections.abc import Callable, Iterable

import pytest
from rich.console import Console
from rich.progress import Progress

from bareline.report.blocks import Block, Prose, Table
from bareline.report.content.document import Document
from bareline.report.content.grid import grid
from bareline.report.terminal.listings import fact_blocks, platform_blocks
from bareline.report.terminal.progress import LiveProgress, StepLines
from bareline.report.terminal.results import comparison_blocks, explained_blocks, summary_blocks
from bareline.report.terminal.runs import plan_blocks, status_blocks
from bareline.report.writers.console import clean, make_console, print_next
from bareline.report.writers.terminal import print_blocks


def printed(action: Callable[[Console], None]) -> str:
    console = make_console()
    console.file = io.StringIO()
    action(console)
    return console.file.getvalue()


def blocks_text(blocks: Iterable[Block]) -> str:
    return printed(lambda console: print_blocks(blocks, console))


def test_the_answer_comes_first_then_every_finding_and_everything_fits(document: Document) -> None:
    text = blocks_text(comparison_blocks(document.comparison))
    lines = text.splitlines()
    assert document.glance is not None
    assert lines[0].lower().startswith(document.glance.headline.text[:60].lower())
    heads = next(line for line in lines if line.strip().startswith("vm-e1000"))
    assert heads.split() == ["vm-e1000", "vm-virtio"], "the largest loss stands first"
    rows = {line[2:34].strip(): line for line in lines if line.startswith("  ")}
    finding = next(
        f for f in document.findings if (f.probe, f.platform) == ("net.nuttcp", "vm-virtio")
    )
    assert finding.ratio is not None
    assert f"{finding.ratio.value:.3g} [" in rows["TCP throughput (nuttcp)"]
    assert "✗ failed" in rows["Memory bandwidth (STREAM)"]
    assert "? 0." in rows["Memory bandwidth (STREAM)"] and " to 1." in rows["DGEMM rate"]
    assert "– missing" in rows["MPI_Allreduce, < 8 KiB"]
    places = [lines.index(layer.words) for layer in reversed(document.glance.layers)]
    assert places == sorted(places), "applications first"
    told = " ".join(lines)
    told = " ".join(told.split())
    assert "times worse than bare" in told and "~ means likely, but not certain" in told
    assert "processor time stolen on vm-e1000" in told
    assert max(map(len, lines)) <= 100
    assert "\x1b" not in text


def test_all_adds_every_point(document: Document) -> None:
    text = blocks_text(comparison_blocks(document.comparison, details=True))
    row = next(line for line in text.splitlines() if line.startswith("vm-virtio") and "9." in line)
    assert "slower" in row
    assert "128 KiB" in text and "latency p99" in text
    assert "the hypervisor took processor time away" in text


def test_platforms_of_one_layer_share_a_line(planted: Callable[..., Document]) -> None:
    names = ("bare", "a", "b", "c")
    document = planted(names, blocks=7, broken=False)
    findings = [f for f in document.findings if f.platform == "a" or f.probe == "net.nuttcp"]
    table, *shared = grid(findings, ["a", "b", "c"])
    assert isinstance(table, Table) and [column.title for column in table.columns] == ["", "a"]
    (prose,) = shared
    assert isinstance(prose, Prose)
    (line,) = prose.sentences
    assert str(line).startswith("Network only, TCP throughput (nuttcp): b ") and ", c " in str(line)


def test_long_sweeps_keep_the_usual_sizes(document: Document) -> None:
    short = blocks_text(summary_blocks(document.summary))
    full = blocks_text(summary_blocks(document.summary, details=True))
    assert "left out; --all shows them" in short
    assert "256 KiB" in short and "128 KiB" not in short
    assert "128 KiB" in full and "latency p99" in full
    assert "latency p99" not in short
    assert max(map(len, full.splitlines())) <= 100


def test_eight_platforms_with_long_names_fit(planted: Callable[..., Document]) -> None:
    names = tuple(f"a-rather-long-platform-name-{i}" for i in range(8))
    document = planted(names, probes=("mpi.allreduce", "memory.stream"), blocks=6)
    text = blocks_text(comparison_blocks(document.comparison, details=True))
    assert max(map(len, text.splitlines())) <= 100
    assert all(name in text for name in names[1:])
    ratios = (c.ratio for c in document.cells if c.place.probe == "memory.stream")
    assert f"{next(filter(None, ratios)).value:.2f}" in text


def test_differences_come_before_what_is_equal(document: Document) -> None:
    names = [info.name for info in document.platforms]
    text = blocks_text(fact_blocks(document.fact_rows, names))
    assert "QEMU Virtual CPU" in text and "Open MPI 4.1.4" not in text
    assert "3 characteristics the same everywhere" in text
    assert "Open MPI 4.1.4" in blocks_text(fact_blocks(document.fact_rows, names, details=True))


def test_names_are_text_not_markup_nor_control(document: Document) -> None:
    assert clean("a\x1b[31mb\rc") == "a\ufffd[31mb\ufffdc"
    assert clean("a\u202eb") == "a\ufffdb"


@pytest.mark.parametrize(
    "code", [0x20, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000]
)
def test_every_space_is_printed_as_plain_ones(code: int) -> None:
    printed = clean(f"a{chr(code)}b")
    assert printed.replace(" ", "") == "ab"
    assert 3 <= len(printed) <= 4


@pytest.mark.parametrize("code", [0xAD, 0x200B, 0x2060, 0xFEFF])
def test_what_parts_words_invisibly_is_left_out(code: int) -> None:
    assert clean(f"long{chr(code)}word") == "longword"
    row = {"platform": "[red]x[/]\x1b[2J", "type": "ssh", "nodes": 2, "title": "",
           "available": False, "reason": "no [bold]host", "hint": "look"}  # fmt: skip
    text = blocks_text(platform_blocks([row]))
    assert "[red]x[/]" in text and "\x1b" not in text
    assert "no [bold]host; look" in text


def test_no_color_takes_the_colours_and_leaves_the_words(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def coloured() -> str:
        file = io.StringIO()
        console = Console(file=file, force_terminal=True, width=100, highlight=False)
        print_blocks([Prose(tuple(document.statements))], console)
        return file.getvalue()

    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in coloured()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in coloured()


def test_commands_stay_in_one_piece() -> None:
    command = "bareline report " + "x" * 150
    text = printed(lambda c: print_next([command, "bareline status x"], c))
    assert command in text.splitlines()[0]


def test_status_and_plan() -> None:
    row = {
        "run": "runs/q", "study": "quick", "created": "2025-11-20T14:03:22+00:00", "seed": 1,
        "baseline": "bare", "planned": 20, "measured": 11, "failed": 1, "skipped": 0, "saved": 0,
        "remaining": 8, "looks": [], "active": False,
        "platforms": {"bare": {"planned": 20, "measured": 11, "failed": 1, "seconds": 90.0,
                               "core_hours": 0.05, "cost": 1.25, "currency": "EUR",
                               "running": "2 instances for 0.4 h (process 7)"}},
        "left_out": ["net-1g: null does not fit: needs 4 nodes, the platform has 2"],
        "machines": [],
    }  # fmt: skip
    text = blocks_text(status_blocks(row))
    assert "skipped" not in text
    assert "1.25 EUR" in text
    assert "bare runs now: 2 instances for 0.4 h (process 7)" in text
    assert "11 of 20 trials measured, 1 failed, 0 not needed, 8 left" in text
    assert "bareline continue runs/q" in text
    assert "left out on net-1g: null does not fit: needs 4 nodes" in text
    plan = [
        {"trial": 0, "block": 0, "platform": "bare", "probe": "null", "params": "", "ranks": 1,
         "threads": 1, "profile": False, "layout": "2x1x1", "timeout_s": 5.0},
    ]  # fmt: skip
    text = blocks_text(plan_blocks(plan))
    assert "2x1x1" in text and "1 trial in 1 block" in text
    assert "profiled" not in text
    assert "profiled" in blocks_text(plan_blocks([{**plan[0], "profile": True}]))
    assert "repeats exactly" not in text
    twice = [{**row, "block": block} for row in plan for block in (0, 1)]
    text = blocks_text(plan_blocks(twice, exact={"bare"}))
    assert "of these 1 simulation only where the first of the case fails" in text


def test_a_live_bar_prints_names_and_no_markup() -> None:
    def work(console: Console) -> None:
        live = LiveProgress(Progress(console=console), stop_on_failure=True)
        live.begin(5, 0)
        live.note("vm[a]", "is up")
        live.skipped(2, "precise [enough]")
        assert not live.failing("npb.cg fails [everywhere]")

    assert printed(work).splitlines() == [
        "vm[a]: is up",
        "skipping 2 trials: precise [enough]",
        "attention: npb.cg fails [everywhere]",
    ]


def test_long_work_says_where_it_stands_and_when_it_ends(monkeypatch):
    clock = iter([10.0, 11.0, 30.0, 31.0])
    monkeypatch.setattr("bareline.report.terminal.progress.time.monotonic", lambda: next(clock))

    def work(console):
        steps = StepLines("pair", console)
        for position in range(1, 5):
            steps(f"step {position}", position, 4)

    # Only one of them is said: the first begins, the others follow within two seconds.
    assert printed(work) == "pair 3 of 4: step 3 (20 s elapsed, about 20 s left)\n"


def test_explain_gives_the_answer_and_the_sums_first(document: Document) -> None:
    """About 130 lines for the demo before; `--all` gives them."""
    brief = blocks_text(explained_blocks(document.comparison))
    full = blocks_text(explained_blocks(document.comparison, details=True))
    assert document.glance is not None
    assert brief.lower().startswith(document.glance.headline.text[:60].lower())
    assert " are unexplained" in brief or "not explained; measure `" in brief
    # The line names the run, whose path may be long.
    assert "--all" in " ".join(brief.splitlines()[-3:])
    assert "What the platforms suit" in full and "What the platforms suit" not in brief
    assert max(map(len, brief.splitlines())) <= 100
