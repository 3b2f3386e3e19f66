import io
import re

import pytest
from rich.console import Console

from bareline.report.blocks import Column, Note, Prose, Remark
from bareline.report.content.facts import FactLine
from bareline.report.terminal.listings import fact_blocks
from bareline.report.writers.console import make_console
from bareline.report.writers.terminal import print_blocks, print_table

NAMES = [f"vm-virtio-jumbo-on-the-rack-of-building-{i}-with-a-name-that-never-ends" for i in (1, 2)]
HEADS = [
    Column("probe"),
    Column("platform"),
    Column("latency (µs)", "number"),
    Column("ratio", "number"),
    Column("95 %", "light"),
    Column("n", "number"),
    Column("verdict"),
    Column(""),
]
ROWS = [
    ["mpi.pingpong_between_two_nodes", name, "123 456.789", "1 234.5", "1 200.1–1 299.9", "30",
     "cannot tell", "abcde"]
    for name in NAMES
]  # fmt: skip


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Console:
    monkeypatch.delenv("COLUMNS", raising=False)
    console = make_console()
    console.file = io.StringIO()
    return console


def text_of(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_piped_table_is_whole(piped: Console) -> None:
    print_table(HEADS, ROWS, piped)
    text = text_of(piped)
    for row in ROWS:
        for figure in (*row[2:6], row[7]):
            assert figure in text
    assert "…" not in text
    lines = [line.rstrip() for line in text.splitlines()]
    assert max(map(len, lines)) <= 100
    # The letters of caveats end the first line of a row.
    assert sum(line.endswith("abcde") for line in lines) == 2
    for word in re.split(r"\W", NAMES[0]):
        assert re.search(rf"\b{word}\b", text)


@pytest.mark.parametrize("columns", [70, 160])
def test_columns_is_obeyed(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    console = make_console()
    console.file = io.StringIO()
    print_table([Column("a"), Column("b")], [["one two " * 60, "three four " * 60]], console)
    widest = max(len(line.rstrip()) for line in text_of(console).splitlines())
    assert columns - 12 <= widest <= columns


def test_figures_make_a_table_wider_than_the_console_rather_than_lose_digits() -> None:
    console = Console(file=io.StringIO(), width=30)
    print_table(HEADS, ROWS, console)
    assert text_of(console).count("1 200.1–1 299.9") == 2
    assert text_of(console).count("abcde") == 2
    assert console.width == 30


def test_no_word_of_the_facts_is_cut() -> None:
    names = [f"vm-virtio-jumbo-{i}" for i in range(8)]

    def each(pattern: str) -> tuple[str, ...]:
        return tuple(pattern.format(index) for index in range(8))

    facts = [
        FactLine("Processor", "model", each("Intel Xeon-{} Platinum"), False),
        FactLine("Processor", "instruction sets", each("SSE4.2, AVX512_VNNI{}"), False),
        FactLine("Network", "device", each("virtio_net{}"), False),
        FactLine("Network", "MTU", ("1500",) * 8, True),
    ]
    console = Console(file=io.StringIO(), width=80)
    print_blocks(fact_blocks(facts, names), console)
    text = text_of(console)
    lines = text.splitlines()
    assert max(len(line.rstrip()) for line in lines) <= 80
    for word in (*names, "AVX512_VNNI7", "virtio_net7", "Platinum", "characteristic"):
        assert word in text
    assert [line.strip() for line in lines].count("Processor") >= 2, "further platforms go below"
    assert "1500" not in text and "1 characteristic the same everywhere" in text
    assert text.index("Processor") < text.index("model") < text.index("Network")


def test_one_folded_detail_differs() -> None:
    facts = [
        FactLine("MPI", "library", ("Open MPI", "MPICH"), False),
        FactLine("MPI", "package", ("Debian", "wheel"), False, detail=True),
        FactLine("Network", "MTU", ("1500", "1500"), True),
    ]
    console = Console(file=io.StringIO(), width=100)
    print_blocks(fact_blocks(facts, ["a", "b"]), console)
    assert "1 detail that differs and 1 characteristic the same" in text_of(console)


def test_paragraphs_have_no_spaces_at_their_ends(piped: Console) -> None:
    piped.width = 40
    sentence = "A message of 24 KiB takes 198 us instead of 9 us, for it waits for the link."
    blocks = [Prose((sentence,)), Prose((sentence,), kind="list"), Note(sentence), Remark(sentence)]
    print_blocks(blocks, piped)
    lines = text_of(piped).splitlines()
    assert lines == [line.rstrip() for line in lines]
    first = next(at for at, line in enumerate(lines) if line.startswith("· "))
    assert lines[first + 1].startswith("  "), "further lines stand below the first word"
    assert max(map(len, lines)) <= 40
