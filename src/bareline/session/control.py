"""The negative control: the baseline measured a second time, under another name.

The control is planned, brought up, booted and given its turn as any other platform, in the same
blocks. Nothing that it shows can be the platform's: what differs is boots, drift, neighbours or
chance. `bareline.analysis.judgements.control` says how often the comparison calls it different.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bareline.platforms.base import exact_among
from bareline.study.study import Study
from bareline.vocabulary.platform import PlatformSpec

#: Ends the baseline's second name: plain, and valid wherever a platform's name is.
_AGAIN = "-again"


@dataclass(frozen=True, slots=True)
class Controlled:
    """A study and its platforms as they are run, with a control or without.

    - `name`: the control's, one of `platforms`; "" where there is none.
    - `reason`: why there is none although it was asked for; "" where there is nothing to say.
    """

    study: Study
    platforms: list[PlatformSpec]
    name: str = ""
    reason: str = ""


def with_control(
    study: Study, platforms: Sequence[PlatformSpec], baseline: str, asked: bool | None
) -> Controlled:
    """Add the baseline under a second name where that is wanted.

    - `asked`: what the command line says. Without it the study decides, and its word holds where a
      platform is compared with the baseline at all: of one platform alone it would double the price
      of a run that compares nothing.
    """
    plain = Controlled(study.model_copy(update={"control": False}), list(platforms))
    wanted = study.control and len(platforms) > 1 if asked is None else asked
    if not wanted:
        return plain
    if baseline in exact_among(platforms):
        why = f"no control: '{baseline}' is simulated, a second time it would give the same figures"
        return replace(plain, reason=why if asked else "")
    spec = next(spec for spec in platforms if spec.name == baseline)
    name = _second_name(baseline, {spec.name for spec in platforms})
    again = replace(spec, name=name, title=f"the negative control: {baseline}, measured again")
    asking = study.asking_also(baseline, [name]).model_copy(update={"control": True})
    return Controlled(asking, [*platforms, again], name)


def _second_name(baseline: str, taken: Collection[str]) -> str:
    name, number = f"{baseline}{_AGAIN}", 2
    while name in taken:
        name, number = f"{baseline}{_AGAIN}-{number}", number + 1
    return name
