"""Whether a profile and ladders carry a prediction; what does not is refused with its remedy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bareline.predict.ladder import Gap, Ladder, LadderGaps
from bareline.predict.needs import Need, needs_of
from bareline.profile.model import Profile
from bareline.profile.summary import DISTURBED, queued_share
from bareline.vocabulary.errors import AnalysisError
from bareline.vocabulary.units import significant


def check_base(profile: Profile, *, openly_shared: bool = False) -> None:
    """Refuse a profile that tells more about its machine than about the program.

    - `openly_shared`: the platform has fewer cores than ranks: they wait for one by design, and the
      models know.

    Raises AnalysisError: it is unfinished, split, or its ranks had no core for too long.
    """
    where = str(profile.path)
    if not profile.complete:
        raise AnalysisError(f"the profile is unfinished: {profile.ended}", where=where)
    if profile.mode == "split":
        raise AnalysisError(
            "a split profile holds its own barriers", where=where, hint="profile without --split"
        )
    queued = queued_share(profile)
    if queued > DISTURBED and not openly_shared:
        raise AnalysisError(
            f"the ranks had no core for {queued:.1%} of their time: no base for a prediction",
            where=where,
            hint="profile on a quiet machine with a core per rank",
        )


def check_ladders(profile: Profile, *ladders: Ladder) -> None:
    """Refuse ladders that lack a curve, or hold an unfit one, that the application needs.

    Raises LadderGaps: with each curve, what is wrong with it, and the measure to add.
    """
    for ladder in ladders:
        gaps = ladder.gaps(needs_on(profile, ladder))
        if gaps:
            raise LadderGaps(ladder.platform, gaps)


def needs_on(profile: Profile, ladder: Ladder) -> Sequence[Need]:
    """Give the curves that a profile needs of a platform, with the ranks as they lie there."""
    return needs_of(profile, spread=ladder.layout.nodes > 1)


def _apart(spread: float) -> str:
    """Say how far launches lie apart: in per cent, or in times where those would be thousands."""
    return f"{spread:.0%}" if spread < 10 else f"{significant(spread)} times their median"


def refuse_contradictions(profile: Profile, ladder: Ladder, drawn: float) -> None:
    """Refuse curves whose launches contradict each other, where the prediction hangs on them."""
    gaps = [
        Gap(
            f"the launches of {curve.key} differ by {_apart(curve.spread)}, which moves the "
            f"prediction by {math.expm1(drawn):.0%}",
            "\n\n".join(need.measures(curve.key.nodes)),
        )
        for need, curve in ladder.used(needs_on(profile, ladder))
        if curve.contradicts
    ]
    if gaps:
        raise LadderGaps(ladder.platform, gaps)
