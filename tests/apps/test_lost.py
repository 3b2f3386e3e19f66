"""One lost message is seen by a mini-app's own verification.

A library before the program zeroes one message that one rank gets by one function at a random place
of the timed part (``native/harness/tests/lose.c``). ``BARELINE_DRAWS=50`` draws so many places for
each app and prints them with ``-s``; without it a few are drawn, the same every time.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from .conftest import RANKS, Apps, point_of

pytestmark = pytest.mark.mpi

#: Apps whose verification has to see it.
APPS: tuple[str, ...] = (
    "app.lattice",
    "app.ocean",
    "app.overset",
    "app.unstructured",
    "app.planewave",
    "app.cartesian",
)
#: Drawn for each function: a launch takes a second.
DRAWS = int(os.environ.get("BARELINE_DRAWS", "0"))


def places(apps: Apps, app: str, folder: Path) -> dict[tuple[str, int], int]:
    """Count what each rank gets by each function."""
    prefix = folder / "count"
    done = apps.run(app, "S", preload=apps.losing, env={"LOSE_COUNT": str(prefix)})
    assert done.returncode == 0, done.stderr
    found = {}
    for rank in range(RANKS):
        for line in Path(f"{prefix}.{rank}").read_text(encoding="utf-8").splitlines():
            function, count = line.split()
            found[function, rank] = int(count)
    return found


def draw(found: dict[tuple[str, int], int], chosen: random.Random) -> list[str]:
    """Draw one place of each function, or the many that are asked for, over all ranks in turn."""
    functions = sorted({function for function, _ in found})
    drawn = []
    for i in range(DRAWS or len(functions)):
        function = functions[i % len(functions)]
        ranks = [rank for name, rank in found if name == function]
        rank = ranks[i // len(functions) % len(ranks)] if DRAWS else chosen.choice(ranks)
        drawn.append(f"{function}:{rank}:{chosen.randint(1, found[function, rank])}")
    return drawn


@pytest.mark.timeout(1200 if DRAWS else 300)
@pytest.mark.parametrize("app", APPS)
def test_one_lost_message_is_seen(app: str, apps: Apps, tmp_path: Path) -> None:
    unseen = []
    drawn = draw(places(apps, app, tmp_path), random.Random(f"lost in {app}"))
    for place in drawn:
        done = apps.run(app, "S", preload=apps.losing, env={"LOSE": place})
        # An app that notices earlier, and ends, has seen it as well.
        if done.returncode == 0 and point_of(done)["verified"]:
            unseen.append(place)
    print(f"{app}: {len(drawn) - len(unseen)} of {len(drawn)} seen; unseen: {unseen}")
    assert not unseen
