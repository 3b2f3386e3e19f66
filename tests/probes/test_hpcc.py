"""The input that hpcc is given, and outputs of runs that went wrong."""

from pathlib import Path

import pytest

from bareline.probes._kernel import squarest
from bareline.probes.base import find_probe
from bareline.probes.compute.hpcc import input_text
from bareline.testing.messages import raises
from bareline.vocabulary.errors import ParseError
from bareline.vocabulary.model import Layout, Output

GOOD = Path(__file__).with_name("data").joinpath("hpcc.good.out").read_text()
HPCC = find_probe("hpcc")


def read(text):
    output = Output(stdout="", stderr="", exit_code=0, duration_s=1.0, files={"hpccoutf.txt": text})
    samples = HPCC.read(HPCC.make_params({}), output).samples
    return {sample.metric: sample.value for sample in samples}


@pytest.mark.parametrize(
    ("ranks", "grid"), [(1, (1, 1)), (2, (1, 2)), (12, (3, 4)), (7, (1, 7)), (16, (4, 4))]
)
def test_process_grids_are_nearly_square(ranks, grid):
    assert squarest(ranks) == grid


def test_the_matrix_fills_the_memory_of_all_ranks_and_no_more():
    params = HPCC.make_params({"memory_bytes": 128 << 20, "nb": 128})
    for ranks in (2, 3, 64):
        order = params.order(ranks)
        assert order % 128 == 0
        assert order**2 * 8 <= (128 << 20) * ranks < (order + 128) ** 2 * 8
    lines = input_text(params, 6).splitlines()
    values = [line.split()[0] for line in lines]
    # The program reads by line number: sizes in the 6th, blocks in the 8th, the grid in 11 and 12.
    assert (values[5], values[7]) == (str(params.order(6)), "128")
    assert (values[10], values[11]) == ("2", "3")
    assert len(lines) == 36


def test_every_rank_gets_its_layout_threads():
    command = HPCC.command(HPCC.make_params({}), Layout(1, 2, 3))
    assert dict(command.env)["OPENBLAS_NUM_THREADS"] == "3"


def test_figures_of_the_summary_in_base_units():
    values = read(GOOD)
    summary = dict(line.split("=", 1) for line in GOOD.splitlines() if "=" in line)
    assert values["hpl_rate"] == pytest.approx(float(summary["HPL_Tflops"]) * 1e12)
    assert values["stream_single_triad"] == pytest.approx(
        float(summary["SingleSTREAM_Triad"]) * 1e9
    )
    single = float(summary["SingleDGEMM_Gflops"]) * 1e9
    assert values["hpl_efficiency"] == pytest.approx(values["hpl_rate"] / (2 * single))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (GOOD + GOOD, "BL-PROBES-662"),  # what two processes apart from each other leave
        (GOOD.replace("CommWorldProcs=2", "CommWorldProcs=1"), "BL-PROBES-662"),
        (GOOD.replace("Success=1", "Success=0"), "BL-PROBES-866"),
        (GOOD.replace("...... PASSED", "...... FAILED"), "BL-PROBES-375"),
        (GOOD.replace("HPL_N=2880", "HPL_N=2800"), "BL-PROBES-214"),
        (GOOD.replace("PTRANS_GBs=", "PTRANS_GBs=-"), "BL-PROBES-375"),
    ],
)
def test_runs_that_went_wrong_say_why(text, code):
    assert text != GOOD
    with raises(ParseError, code):
        read(text)
