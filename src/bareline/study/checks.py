"""Check a study's consistency: its roles, scales and published figures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from bareline.probes.base import is_probe
from bareline.study.measure import Exhibit, Measure
from bareline.study.roles import Role
from bareline.vocabulary.errors import StudyError, did_you_mean


def check_programs(names: Iterable[str]) -> None:
    """Raise StudyError for a program of a study that has the name of a probe."""
    for name in names:
        if is_probe(f"app.{name}"):
            raise StudyError(
                f"app.{name} is also the name of a probe of bareline", hint="choose another name"
            )


def check_published(exhibits: Sequence[Exhibit]) -> None:
    """Raise PublicationError if an ``[[exhibit]]`` names a figure that is in no publication."""
    references: list[str] = []
    for exhibit in exhibits:
        references += exhibit.published
    if references:
        from bareline.published.catalogue import find_part

        for reference in references:
            find_part(reference)


def check_roles(roles: Mapping[str, Role], measures: Sequence[Measure]) -> None:
    """Raise StudyError for a role that does not exist, or that no publication describes."""
    if not roles and all(measure.roles is None for measure in measures):
        return
    for name, role in roles.items():
        _check_role(name, role)
    for number, measure in enumerate(measures, 1):
        _check_roles_of(measure, roles, where=f"measure {number} ({measure.probe})")


def _check_role(name: str, role: Role) -> None:
    """Raise StudyError for a role that represents a platform that no publication describes."""
    from bareline.published.catalogue import publications

    published = []
    for publication in publications().values():
        published += [f"{publication.id}:{platform.id}" for platform in publication.platforms]
    for reference in role.published:
        if reference not in published:
            raise StudyError(
                f"no publication describes a platform '{reference}'",
                where=f"[role.{name}]",
                hint=did_you_mean(reference, published, "`bareline published` lists the figures"),
            )


def _check_roles_of(measure: Measure, roles: Mapping[str, Role], *, where: str) -> None:
    """Raise StudyError for a ``[[measure]]`` with unknown roles, or with roles and platforms."""
    if measure.roles is None:
        return
    if measure.platforms is not None:
        raise StudyError(
            "a measure cannot have both 'roles' and 'platforms'; remove one of the two keys",
            where=where,
        )
    for name in measure.roles:
        if name not in roles:
            hint = did_you_mean(name, roles, f"add a table [role.{name}]")
            raise StudyError(f"the study has no role '{name}'", where=where, hint=hint)


def check_scales(scales: Collection[str], measures: Sequence[Measure]) -> None:
    """Raise StudyError for a scale that does not exist."""
    for number, measure in enumerate(measures, 1):
        for name in measure.scale:
            if name not in scales:
                raise StudyError(
                    f"measure {number} ({measure.probe}) has values for the scale '{name}',"
                    " which the "
                    "study does not have",
                    hint=f"add a table [scale.{name}]",
                )
