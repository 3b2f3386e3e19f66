"""Programs of many kinds from few ranks to many: exact, or refused with the call; never wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bareline.predict.scaling.grid import Grid
from bareline.predict.scaling.laws import element_size
from bareline.predict.scaling.ranks import scaled
from bareline.profile.period import calls_of
from bareline.profile.records import NOBODY, Shape
from bareline.testing.messages import raises
from bareline.vocabulary.errors import AnalysisError

from . import halo
from .halo import program

SQUARES = ((2, 2), (2, 4), (4, 4))
ONLY_SQUARE = ((2, 2), (3, 3), (4, 4))
CUBES = ((2, 2, 2), (3, 3, 3))
CUBES_OF_FOUR = ((2, 2, 2), (2, 4, 4), (4, 4, 4))


def asked(trace):
    """What each rank asks for; communicators by their members, and no elements."""
    members = {}
    for one in trace.streams:
        for shape in one.shapes:
            if shape.comm:
                members.setdefault(shape.comm, set()).add(one.rank)
    return [
        [(replace(s, comm=0, element=0), tuple(members.get(s.comm, ()))) for s in calls_of(one)]
        for one in trace.streams
    ]


def predicted(counts, target, *more, cells=(64, 64), grid=True, **how):
    own = scaled([program(sides, cells, *more, **how) for sides in counts])
    made = own.grown(Grid(target) if grid else own.grid(Grid(target).ranks))
    return made, program(target, cells, *more, **how)


@pytest.mark.parametrize(
    ("counts", "target", "more"),
    [
        pytest.param(SQUARES, (8, 8), [halo.rooted(0)], id="root 0"),
        pytest.param(SQUARES, (8, 8), [halo.rooted(-1)], id="last root"),
        pytest.param(SQUARES, (8, 8), [halo.rooted(3)], id="root 3"),
        pytest.param(SQUARES, (8, 8), [halo.rows], id="roots of rows"),
        pytest.param(SQUARES, (8, 8), [halo.fours], id="communicators of four"),
        pytest.param(SQUARES, (8, 8), [halo.tiled], id="tags of tiles"),
        pytest.param(SQUARES, (8, 8), [halo.mirrored], id="opposite block"),
        pytest.param(SQUARES, (8, 8), [halo.fold], id="fold"),
        pytest.param(ONLY_SQUARE, (8, 8), [halo.transposed], id="transposition"),
        pytest.param(SQUARES, (4, 8), [], id="another shape"),
        pytest.param(((4,), (8,), (16,)), (64,), [halo.half], id="half-way round"),
        pytest.param(((4, 2), (4, 3), (4, 4)), (4, 16), [], id="a side that stays"),
        pytest.param(SQUARES, (8, 4), [], id="the other way"),
    ],
)
@pytest.mark.parametrize("ends", [False, True])
def test_programs_that_are_exact(counts, target, more, ends):
    cells = (192, 192)[: len(target)]
    made, true = predicted(counts, target, *more, cells=cells, ends=ends)
    assert asked(made.trace) == asked(true.trace)
    assert made.unchecked.call_share < 0.25


@pytest.mark.parametrize(
    ("counts", "target", "more", "cells", "code"),
    [
        (SQUARES, (8, 8), [], (60, 60), "BL-PREDICT-899"),
        (SQUARES, (8, 8), [halo.butterfly], (64, 64), "BL-PREDICT-912"),
        (CUBES, (4, 4, 4), [halo.mirrored], (72,) * 3, "BL-PREDICT-955"),
        (CUBES, (4, 4, 4), [], (72,) * 3, "BL-PREDICT-955"),
        (((2, 2), (3, 3)), (6, 6), [halo.fold], (72, 72), "BL-PREDICT-955"),
        (((3, 3), (3, 5)), (3, 10), [], (90, 90), "BL-PREDICT-955"),
        (SQUARES, (8, 8), [halo.growing], (64, 64), "BL-PREDICT-944"),
        (SQUARES, (8, 8), [halo.scattered], (64, 64), "BL-PREDICT-912"),
    ],
)
def test_programs_that_are_refused_by_their_call(counts, target, more, cells, code):
    with raises(AnalysisError, code) as error:
        predicted(counts, target, *more, cells=cells)
    assert error.value.hint


def test_counts_are_recommended_that_check_the_laws():
    own = scaled([program(sides, (72,) * 3) for sides in CUBES])
    with pytest.raises(AnalysisError) as error:
        own.grown(Grid((6, 6, 6)))
    assert "64 ranks" in error.value.hint
    made, true = predicted((*CUBES, (4, 4, 4)), (6, 6, 6), halo.mirrored, cells=(72,) * 3)
    assert asked(made.trace) == asked(true.trace)


def test_a_cut_that_no_profile_proves_even_is_said():
    made, true = predicted(SQUARES, (8, 8), cells=(64, 64), block=128)
    assert asked(made.trace) != asked(true.trace)
    assert made.assumed_even == (0, 1)
    proved, _ = predicted(SQUARES, (4, 2))
    assert proved.assumed_even == ()


def test_a_grid_is_not_guessed():
    for counts in (ONLY_SQUARE, ((4, 2), (4, 3), (4, 4)), ((2, 4), (3, 4), (4, 4))):
        with raises(AnalysisError, "BL-PREDICT-703") as error:
            predicted(counts, (4, 8), cells=(192, 192), grid=False)
        assert "--grid" in error.value.hint


@pytest.mark.parametrize("cells", [64, 33, 102])
def test_ranks_at_the_ends_may_send_one_row_fewer(cells):
    counts = SQUARES if cells != 102 else ((2, 2), (2, 4), (3, 4), (4, 4))
    own = scaled([halo.pipelines(sides, (cells, cells)) for sides in counts])
    made = own.grown(Grid((8, 8)))
    assert asked(made.trace) == asked(halo.pipelines((8, 8), (cells, cells)).trace)
    assert made.unchecked.calls == 0


def test_an_uneven_cut_of_which_no_profile_shows_the_parts_is_refused():
    own = scaled([halo.pipelines(sides, (36, 36)) for sides in SQUARES])
    with raises(AnalysisError, "BL-PREDICT-651", "MPI_Send", "120, 160") as error:
        own.grown(Grid((8, 8)))
    assert error.value.hint


def test_several_ways_to_cut_a_side_have_to_agree():
    """67 cells on 2 and 4: the first have more, or the last the rest; or 69 less the boundary."""
    for ends in (False, True):
        with raises(AnalysisError, "BL-PREDICT-651", "104, 112"):
            predicted(((2, 2), (4, 4)), (5, 5), cells=(67, 67), ends=ends)


def written(grid, rank):
    """A line of a monitor, on the first rank, longer on more ranks."""
    size = 20 + len(str(grid.ranks)) ** 3
    line = Shape("write", "posix-io", False, NOBODY, NOBODY, NOBODY, -1, -1, 0, 0, size, size, 0)
    return [line] if rank == 0 else []


def test_output_need_follow_no_law():
    made, true = predicted(SQUARES, (8, 8), written, halo.tiled, halo.rooted(0), ends=True)
    bare = [
        [[shape for shape in own if shape[0].kind != "posix-io"] for own in asked(one.trace)]
        for one in (made, true)
    ]
    assert bare[0] == bare[1] and made.off == 0
    assert [one.call for one in made.trace.streams[0].shapes].count("write") == 1


def test_padding_that_the_profiles_show_is_fitted():
    made, true = predicted((*SQUARES, (3, 3)), (8, 8), cells=(72, 72), block=128)
    assert asked(made.trace) == asked(true.trace)
    assert made.unchecked.calls == 0
    # Of two and four parts alone, 128 B and a share of 512 B give the sizes as well.
    with raises(AnalysisError, "BL-PREDICT-651", "MPI_Irecv", "128", "192"):
        predicted(SQUARES, (8, 8), cells=(72, 72), block=128)


def test_what_is_received_is_checked_as_well_as_what_is_sent():
    """Twelve ranks and four: eight bytes of each rank, or a sum of two terms that meets both."""
    made, true = predicted(((4,), (12,)), (24,), halo.gathered, cells=(96,))
    assert asked(made.trace) == asked(true.trace)


@pytest.mark.slow
def test_a_size_does_not_shrink_to_nothing():
    """Of 2, 3 and 4 parts 3, 2 and 1 KiB: blocks of 1 KiB, not 1 KiB less for each part."""
    made, true = predicted(
        ((2, 2, 2), (3, 3, 3), (4, 4, 4)), (5, 5, 5), cells=(32, 32, 48), block=1024
    )
    assert asked(made.trace) == asked(true.trace)


def test_a_rank_that_sums_alone_does_so_there():
    made, true = predicted(SQUARES, (8, 8), halo.alone)
    assert asked(made.trace) == asked(true.trace)


def test_counts_that_no_law_by_place_gives_are_refused_and_do_not_end_in_a_traceback():
    """A Gatherv of 1,000 elements: of ranks of a place, some bring one more."""
    with raises(AnalysisError, "BL-PREDICT-651", "MPI_Gatherv"):
        predicted(((2, 2, 2), (2, 4, 4)), (4, 4, 4), halo.gathered_unevenly, cells=(64,) * 3)


def test_padding_of_which_the_profiles_leave_two_sizes_is_refused():
    """Two counts leave 1,025 to 1,280 B for a row of all cells: one or two blocks of nine parts."""
    with raises(AnalysisError, "BL-PREDICT-651", "MPI_Irecv"):
        predicted(((2, 2), (4, 4)), (9, 9), cells=(136, 136), block=128)


def test_elements_are_those_of_the_datatype():
    counted = {"cells": (60, 60), "element": 16}
    with raises(AnalysisError, "BL-PREDICT-899", "MPI_Irecv", "7.5", "16"):
        predicted(SQUARES, (8, 8), **counted)
    made, true = predicted(SQUARES, (8, 8), cells=(72, 72), element=4)
    assert asked(made.trace) == asked(true.trace)


def test_a_datatype_of_a_whole_message_is_no_element():
    assert element_size([(240, 240), (120, 120)]) == 8
    assert element_size([(240, 120), (120, 120)]) == 120
    assert element_size([(240, 1), (120, 1)]) == 8
    assert element_size([(36, 0), (72, 0)]) == 4


def test_a_logarithm_is_not_taken_for_a_side():
    """Of 4, 9 and 16 ranks it is 2, 3 and 4, as the sides are; of 4, 8 and 16 no side is."""
    made, _ = predicted(ONLY_SQUARE, (6, 6), halo.logarithmic, cells=(144, 144))
    assert made.unchecked.calls == 36
    with raises(AnalysisError, "BL-PREDICT-712", "MPI_Allreduce", "16, 24, 32"):
        predicted(SQUARES, (8, 8), halo.logarithmic)


def test_sizes_that_grow_with_a_side_of_two_and_four_are_exact_and_unchecked():
    made, true = predicted(SQUARES, (8, 8), halo.gathered_by_row)
    assert asked(made.trace) == asked(true.trace)
    assert made.unchecked.calls == 64 and made.unchecked.first.startswith("MPI_Allgather")


def test_the_root_may_be_the_middle_of_a_row():
    made, true = predicted(ONLY_SQUARE, (6, 6), halo.from_the_middle, cells=(144, 144))
    assert asked(made.trace) == asked(true.trace)
    assert made.unchecked.calls == 0


def test_partners_inside_a_side_alone_are_unchecked():
    """Reversed bits swap the ranks inside a side of four, as a mirror does, but not its ends."""
    made, true = predicted(SQUARES, (8, 8), halo.shuffled)
    assert asked(made.trace) != asked(true.trace)
    assert made.unchecked.calls == 48 and "ends of side 1" in made.unchecked.first


@pytest.mark.parametrize(
    ("more", "counts", "cells", "about"),
    [
        pytest.param(halo.third_on, SQUARES, (64, 64), "partners", id="+3 or -1 of four"),
        pytest.param(halo.strip, SQUARES, (64, 64), "calls", id="a part of the side"),
        pytest.param(halo.in_blocks, ((3, 3), (3, 4), (4, 4)), (648, 648), "sizes", id="blocks"),
    ],
)
def test_an_assumption_that_no_profile_shows_is_said(more, counts, cells, about):
    made, true = predicted(counts, (8, 8), more, cells=cells)
    assert asked(made.trace) != asked(true.trace)
    assert about in {caution.about for caution in made.cautions}
    plain, _ = predicted(counts, counts[-1], more, cells=cells)
    assert plain.cautions == ()


def test_periods_that_begin_at_another_collective_are_aligned():
    """Of four ranks the sum over four is of all, and the period begins behind it."""
    periods = [program(sides, (64, 64), halo.fours) for sides in SQUARES]
    first = periods[0].trace.streams
    turned = tuple(
        replace(one, shape=np.roll(one.shape, 1), compute_s=np.roll(one.compute_s, 1))
        for one in first
    )
    rotated = replace(periods[0], trace=replace(periods[0].trace, streams=turned))
    own = scaled([rotated, *periods[1:]])
    assert own.left_out == ()
    assert asked(own.grown(Grid((8, 8))).trace) == asked(
        program((8, 8), (64, 64), halo.fours).trace
    )


def test_a_period_that_grows_with_the_ranks_is_refused():
    """A root that moves around all ranks has as many steps in a period as there are ranks."""
    periods = [
        replace(program(sides), calls=20 * sides[0] * sides[1], repeats=64 // (sides[0] * sides[1]))
        for sides in SQUARES
    ]
    with raises(AnalysisError, "BL-PREDICT-292", "80, 160, 320"):
        scaled(periods)


def test_counts_that_were_given_are_not_recommended():
    """Counts of 4, 9 and 27, where 9 ranks make other calls."""
    periods = [program(sides, (72,) * len(sides)) for sides in ((2, 2, 2), (3, 3, 3))]
    own = replace(scaled(periods), periods=(*periods, program((4, 4, 4), (72,) * 3)))
    assert "64" not in own.recommended(216)


def test_means_of_sizes_that_vary_are_near_and_not_exact():
    """Bytes that are not whole elements are means: the nearest law, with its error."""

    def near(sides):
        one = program(sides, (64, 64))
        grid = Grid(sides)
        streams = tuple(
            replace(stream, shapes=tuple(varied(shape, grid) for shape in stream.shapes))
            for stream in one.trace.streams
        )
        return replace(one, trace=replace(one.trace, streams=streams), spread=0.02)

    def varied(shape, grid):
        if shape.kind not in ("send", "receive"):
            return shape
        more = {4: 3, 8: 1, 16: 2}[grid.ranks]
        return replace(shape, size=shape.size + more, element=8)

    made = scaled([near(sides) for sides in SQUARES]).grown(Grid((8, 8)))
    assert 0 < made.off < 0.1
    exact = [replace(program(sides, (64, 64)), spread=0.02) for sides in SQUARES]
    assert scaled(exact).grown(Grid((8, 8))).off == 0
