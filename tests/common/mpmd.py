"""Whether a launcher can start several programs at once."""

from __future__ import annotations

import subprocess
from functools import cache

import pytest


@cache
def crashes_with_two_programs(mpirun: str) -> bool:
    """Whether a launcher dies of a signal when it is given two programs.

    That of Debian 13's Open MPI 5.0.7 does, with or without options; 4.1.4 and 5.0.11 do not.
    """
    line = [mpirun, "-n", "1", "true", ":", "-n", "1", "true"]
    done = subprocess.run(line, capture_output=True, check=False)
    return done.returncode < 0 or done.returncode > 128


def skip_where_two_programs_crash(mpirun: str) -> None:
    """Skip a test that starts two programs where the launcher itself cannot."""
    if crashes_with_two_programs(mpirun):
        pytest.skip(f"{mpirun} crashes when it is given two programs")
