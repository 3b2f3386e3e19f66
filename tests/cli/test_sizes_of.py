"""A study at the message sizes of a profiled program."""

import json
from pathlib import Path

PROFILE = Path(__file__).parents[1] / "profile" / "data" / "planted.profile"
STUDY = """
[study]
name = "sized"
launches = 1
precision = 0
[[measure]]
probe = "mpi.allreduce"
ranks = 2
params = { max_bytes = 256 }
"""


def test_the_plan_has_the_means_of_the_program(bareline, place):
    (place / "sized.toml").write_text(STUDY)
    given = ("run", "sized.toml", "--on", "a", "--sizes-of", str(PROFILE), "--dry-run")
    done = bareline(*given)
    # The mean of 11.0 KiB in 24 calls, in whole elements.
    assert "MPI_Allreduce 472 B" in done.stderr
    (row,) = json.loads(bareline(*given, "--json").stdout)
    sizes = row["params"].partition('sizes_bytes="')[2].partition('"')[0].split(",")
    # 472 B is above the study's own limit.
    assert "8" in sizes and "472" not in sizes
    assert {path.name for path in place.iterdir()} == {
        "planted.toml", "platforms.toml", "sized.toml",
    }  # fmt: skip


def test_a_profile_that_cannot_be_read_ends_with_one_line(bareline):
    done = bareline("run", "planted.toml", "--on", "a", "--sizes-of", "nothere", code=2)
    assert done.stderr.count("\n") == 1 and done.ended_by("BL-PROFILE-518", "nothere")


def test_a_study_without_sizes_is_named(bareline):
    given = ("run", "planted.toml", "--on", "a", "--sizes-of", str(PROFILE), "--dry-run")
    assert bareline(*given).has_line("'planted'")
