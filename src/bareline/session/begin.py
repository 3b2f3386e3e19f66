"""Begin a run: find its platforms and baseline, assign roles, and create its directory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from bareline.platforms.base import Availability, availability_of, load_platform_types
from bareline.platforms.config import load_platforms
from bareline.study.plan import choose, fresh_seed, make_plan
from bareline.study.study import Study
from bareline.vocabulary.errors import PlatformError, UsageError
from bareline.vocabulary.model import Trial
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.rows import row_of

if TYPE_CHECKING:
    from bareline.store.run import Run

#: One role alone is compared with nothing.
_FEWEST_ROLES = 2
#: Types of platforms that can take a role on one machine.
_STAND_INS = ("netns", "local", "null")


def choose_baseline(study: Study, platforms: Sequence[PlatformSpec], given: str | None) -> str:
    """Return the name of the baseline platform.

    The command line has precedence over the study. If neither names a platform of the run, the
    baseline is the first platform.

    Raises UsageError: the run does not have the platform that the command line names.
    """
    names = [spec.name for spec in platforms]
    if given is not None and given not in names:
        raise UsageError(
            f"the baseline '{given}' is not part of the run",
            hint=f"add --on {given}, or choose one of: {', '.join(names)}",
        )
    if given:
        return given
    return study.baseline if study.baseline in names else names[0]


def cast_study(
    study: Study,
    given: Sequence[str],
    on: Sequence[str],
    platforms: Path | None,
    *,
    anyway: bool = False,
) -> tuple[Study, list[str]]:
    """Return a study with a platform for each role; an unusable default platform takes no role.

    - `given`: the values of ``--as``.
    - `on`: the values of ``--on``.
    - `platforms`: the value of ``--platforms``.
    - `anyway`: continue if fewer than two roles can be measured, although nothing is then compared.

    Also returns a line for each role without a platform, with the reason.

    Raises UsageError: fewer than two roles can be measured, and the user did not choose platforms.
    """
    if not study.roles:
        return study.with_roles(given, on), []
    wrong: dict[str, PlatformError] = {}
    loaded = load_platforms(platforms, wrong)
    lacking = {} if on else _lacking(study, loaded, wrong)
    offered = _without_defaults(study, lacking)
    if not (on or given or any(role.platform for role in offered.roles.values())):
        return _without_platforms(offered, lacking, loaded, anyway=anyway)
    cast = offered.with_roles(given, on)
    left = _open_roles(cast)
    if _compares_nothing(cast) and not (on or anyway):
        dropped = {text.partition("=")[0] for text in given}
        open_roles = [name for name in left if name not in dropped]
        raise _alone(cast, open_roles or left, lacking, loaded)
    return cast, [_left_line(name, lacking) for name in left]


def _without_defaults(study: Study, names: Collection[str]) -> Study:
    """Return a study in which some roles have no default platform."""
    roles = {}
    for name, role in study.roles.items():
        roles[name] = role.model_copy(update={"platform": None}) if name in names else role
    return study.changed(roles=roles)


def _without_platforms(
    study: Study,
    lacking: Mapping[str, Availability],
    loaded: Mapping[str, PlatformSpec],
    *,
    anyway: bool,
) -> tuple[Study, list[str]]:
    """Return a study in which some roles have no platform, with a line for each such role.

    - `lacking`: by role, why its default platform cannot be used.
    - `loaded`: the platforms by name.
    - `anyway`: return the study even if fewer than two roles have a platform.

    Raises UsageError: fewer than two roles have a platform, so that nothing would be compared.
    """
    left = _open_roles(study)
    if _compares_nothing(study) and not anyway:
        raise _alone(study, left, lacking, loaded)
    return study.with_roles([], []), [_left_line(name, lacking) for name in left]


def _open_roles(study: Study) -> list[str]:
    return [name for name, role in study.roles.items() if role.platform is None]


def _compares_nothing(study: Study) -> bool:
    """Whether a study of several roles has platforms for fewer than two roles."""
    taken = len(study.roles) - len(_open_roles(study))
    return len(study.roles) > 1 and taken < _FEWEST_ROLES


def _lacking(
    study: Study, loaded: Mapping[str, PlatformSpec], wrong: Mapping[str, PlatformError]
) -> dict[str, Availability]:
    """Return the roles whose default platform cannot be used here, with the reason."""
    lacking = {}
    for name, role in study.roles.items():
        if role.platform is None:
            continue
        availability = _availability(role.platform, loaded, wrong)
        if not availability.ok:
            lacking[name] = availability
    return lacking


def _left_line(name: str, lacking: Mapping[str, Availability]) -> str:
    """Return the line about a role without a platform."""
    why = f" ({lacking[name].reason})" if name in lacking else ""
    return f"role {name} is not measured here{why}; --as {name}=PLATFORM maps one"


def without_emulated(study: Study, platforms: Sequence[PlatformSpec], baseline: str) -> Study:
    """Return a study without computations on platforms with emulated processors.

    On these platforms the study measures only networks and files.

    Computations on emulated processors are not compared and take minutes. The study is unchanged if
    it has no publication, or if the baseline itself is emulated.
    """
    types = load_platform_types()
    names = [spec.name for spec in platforms if types[spec.type].emulated(spec)]
    if baseline in names or not (names and study.publications):
        return study
    return study.without_computing_on(names)


def _availability(
    name: str, loaded: Mapping[str, PlatformSpec], wrong: Mapping[str, PlatformError]
) -> Availability:
    """Return whether a platform can be used here; the reason begins with the platform's name."""
    if name in wrong:
        return Availability(False, str(wrong[name]))
    if name not in loaded:
        return Availability(False, f"no platform is named '{name}'")
    availability = availability_of(loaded[name])
    return replace(availability, reason=f"{name}: {availability.reason}")


def _alone(
    study: Study,
    open_: Sequence[str],
    lacking: Mapping[str, Availability],
    platforms: Mapping[str, PlatformSpec],
) -> UsageError:
    """Return the error for a study that would compare nothing, with the most useful next step."""
    taken = [role.platform for role in study.roles.values() if role.platform]
    fewer = _FEWEST_ROLES - len(taken)
    free = _stand_ins(platforms, taken)
    pairs = zip(open_[-fewer:], free, strict=False)
    mapped = " ".join(f"--as {role}={name}" for role, name in pairs)
    hints = Counter(missing.hint for missing in lacking.values() if missing.hint)
    steps = [hint for hint, _ in hints.most_common(1)]
    if mapped:
        steps.append(f"map roles, e.g. `{mapped}`")
    steps.append("go on with --anyway")
    reasons = list(dict.fromkeys(missing.reason for missing in lacking.values()))
    why = "; ".join(reasons[:2]) or "the other roles have no platform"
    return UsageError(
        f"{len(taken)} of {len(study.roles)} roles can be measured here ({why}): nothing would be "
        "compared",
        where=f"study '{study.name}'",
        hint=", or ".join(steps),
    )


def _stand_ins(platforms: Mapping[str, PlatformSpec], taken: Collection[str]) -> Iterator[str]:
    """Yield the platforms that can take any role here; platforms with most nodes come first."""
    specs = sorted(platforms.items(), key=lambda item: -item[1].capacity.nodes)
    for name, spec in specs:
        if name not in taken and spec.type in _STAND_INS and availability_of(spec).ok:
            yield name


def refuse_unusable(platforms: Sequence[PlatformSpec]) -> None:
    """Refuse platforms that are known to be unusable here, before anything is created.

    Raises UsageError: a platform cannot be acquired; the error has the remedy.
    """
    for spec in platforms:
        available = availability_of(spec)
        if not available.ok:
            hint = f"leave out --on {spec.name}" if len(platforms) > 1 else "choose another --on"
            if available.hint:
                hint = f"{available.hint}, or {hint}"
            raise UsageError(
                f"the platform '{spec.name}' cannot be used here: {available.reason}", hint=hint
            )


def default_folder(study: Study) -> Path:
    """Return the path of a run directory below ``runs`` that does not exist yet."""
    from bareline.store.naming import RUNS

    stem = f"{study.name}-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    return next(RUNS / name for name in names if not (RUNS / name).exists())


def create_run(
    study: Study,
    platforms: Sequence[PlatformSpec],
    folder: Path,
    *,
    baseline: str,
    control: str = "",
    seed: int | None = None,
) -> Run:
    """Create a run directory with everything that is necessary to plan the run again.

    - `control`: the name of the platform that `with_control` added as a second baseline.

    Raises StudyError: no case of the study runs on these platforms.
    Raises StoreError: the directory cannot be created.
    """
    # `ab` launches its commands for the first time before it needs these.
    from bareline.session.machine import versions
    from bareline.store.header import Header
    from bareline.store.run import Run
    from bareline.store.run_files import now

    seed = seed_of(study, seed)
    study = study.changed(cases_per_turn=cases_per_turn(study, platforms))
    platforms = [spec.settled() for spec in platforms]
    make_plan(study, platforms, seed=seed)
    header = Header(
        study=study.to_toml(),
        platforms={spec.name: spec.to_dict() for spec in platforms},
        probes={name: study.find_probe(name).declaration() for name in study.probes},
        baseline=baseline,
        control=control,
        seed=seed,
        created=now(),
        versions=versions(),
    )
    choice = choose(study, platforms)
    cells = [(platforms[number].name, choice.cases[case]) for number, case in choice.cells]
    return Run.create(folder, header, choice.left_out, cells)


def seed_of(study: Study, given: int | None) -> int:
    """Return the seed of a run: from the command line, from the study, or a new one."""
    if given is not None:
        return given
    return fresh_seed() if study.seed is None else study.seed


def cases_per_turn(study: Study, platforms: Sequence[PlatformSpec]) -> int:
    """Return how many cases a platform runs before the next platform takes its turn.

    If the study does not set this number, it is the largest of the numbers that the types of the
    platforms define.
    """
    if study.cases_per_turn is not None:
        return study.cases_per_turn
    types = load_platform_types()
    return max(types[spec.type].cases_per_turn for spec in platforms)


class PlannedTrial(TypedDict):
    """A row of ``run --dry-run``: a trial of the plan."""

    trial: int
    block: int
    platform: str
    control: bool
    probe: str
    params: str
    ranks: int
    threads: int
    profile: bool
    layout: str | None
    timeout_s: float


def plan_rows(
    study: Study,
    platforms: Sequence[PlatformSpec],
    seed: int | None = None,
    *,
    control: str = "",
) -> list[PlannedTrial]:
    """Return the trials of a plan in their order, which depends on the seed."""
    study = study.changed(cases_per_turn=cases_per_turn(study, platforms))
    trials = make_plan(study, platforms, seed=seed_of(study, seed))
    return [_planned_row(trial, control) for trial in trials]


def _planned_row(trial: Trial, control: str) -> PlannedTrial:
    return row_of(
        PlannedTrial,
        trial.case,
        trial=trial.index,
        block=trial.block,
        platform=trial.platform,
        control=trial.platform == control,
        layout=None if trial.layout is None else str(trial.layout),
        timeout_s=trial.timeout_s,
    )
