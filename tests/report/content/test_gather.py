import json
from collections.abc import Callable

from bareline.analysis.numbers.records import read_runs
from bareline.analysis.words.comparison import Comparison
from bareline.report.content.document import Document, document_of
from bareline.store.run import Run
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError


def test_the_title_says_what_is_compared(document: Document) -> None:
    assert document.title == "Planted differences"
    assert document.about == "vm-virtio and vm-e1000 compared with bare"
    assert "2025-11-20 14:03 UTC" in document.subtitle
    assert document.names == ("bare", "vm-virtio", "vm-e1000")


def test_another_baseline_stands_first(document: Document) -> None:
    records = read_runs([Run.open(document.records.runs[0].path)])
    other = document_of(Comparison(records, "vm-virtio", 0.1))
    assert other.names[0] == "vm-virtio"
    assert other.about == "bare and vm-e1000 compared with vm-virtio"
    assert other.margin == 0.1
    with raises(AnalysisError, "BL-ANALYSIS-477"):
        document_of(Comparison(records, "x"))


def test_facts_come_from_the_run(planted: Callable[..., Document]) -> None:
    document = planted(("bare", "vm"), probes=("compute.dgemm",), broken=False, blocks=6)
    run = Run.open(document.records.runs[0].path)
    run.write_facts("bare", {"cpu.model": "Xeon", "os.kernel": "6.1"})
    run.write_facts("vm", {"cpu.model": "QEMU", "os.kernel": "6.1"})
    read = document_of(Comparison(read_runs([run])))
    rows = {row.label: row for row in read.fact_rows}
    processor = rows["Processor"]
    assert list(processor.values) == ["Xeon", "QEMU"]
    assert not processor.equal
    assert json.loads(json.dumps(dict(read.facts["vm"])))["cpu.model"] == "QEMU"
