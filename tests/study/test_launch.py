"""A launcher's command line: the program that it names, and what would be lost."""

import pytest

from bareline.study.launch import parse_launch, program_study
from bareline.testing.messages import raises
from bareline.vocabulary.errors import UsageError


@pytest.mark.parametrize(
    "options", [["-n", "4"], ["-np", "4"], ["--ntasks=4"], ["--oversubscribe", "-n", "4"]]
)
def test_the_program_and_its_ranks_are_read(options):
    program = parse_launch(["/usr/bin/mpirun", *options, "./app", "-n", "9"])
    assert program.words == ("./app", "-n", "9") and program.ranks == 4


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        ([], "BL-STUDY-801"),
        (["./app"], "BL-STUDY-801"),
        (["mpirun", "./app"], "BL-STUDY-249"),
        (["mpirun", "-n"], "BL-STUDY-594"),
        (["mpirun", "-n", "0", "./app"], "BL-STUDY-594"),
        (["mpirun", "-n", "nan", "./app"], "BL-STUDY-594"),
        (["mpirun", "-n", "99999999999", "./app"], "BL-STUDY-594"),
        (["mpirun", "-n", "2"], "BL-STUDY-670"),
        (["mpirun", "-n", "2", "--map-by", "node", "./app"], "BL-STUDY-860"),
        (["mpirun", "-n", "1", "./a", ":", "-n", "1", "./b"], "BL-STUDY-913"),
    ],
)
def test_what_cannot_be_started_by_a_platform_is_refused(argv, code):
    with raises(UsageError, code):
        parse_launch(argv)


def test_the_study_launches_the_program_under_the_profiler(tmp_path):
    study = program_study(parse_launch(["mpirun", "-n", "3", "./app", "x y"]), tmp_path, 3)
    ((measure, case),) = study.cases()
    assert (case.ranks, case.profile, measure.trace_bytes) == (3, True, 256 << 20)
    command = study.command_of(case)
    assert command.mpi and command.argv[-3:] == (str(tmp_path), "./app", "x y")
