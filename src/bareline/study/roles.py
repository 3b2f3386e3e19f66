"""Roles: the columns of a published study, each represented by one of the user's platforms.

::

    [role.sriov]
    title = "virtual machines, SR-IOV"
    platform = "vm-sriov"
    published = ["nccs:vm-vm-sriov"]

`platform` is the default. `bareline run STUDY --as sriov=my-cluster` selects another platform, and
``--as sriov=`` no platform. In a run directory, `platform` is the platform that took the role; a
role without a platform was not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from bareline.vocabulary.errors import StudyError, did_you_mean


class Role(BaseModel):
    """A ``[role.NAME]``.

    - `title`: the head of the role's column.
    - `platform`: the platform that takes the role if the command line names none.
    - `instead`: platforms that take the role if ``--on`` names them and not the default, best
      first.
    - `published`: the published platforms that the role represents, as ``publication:platform``.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    title: str
    platform: str | None = None
    instead: list[str] = []
    published: list[str] = []


@dataclass(frozen=True, slots=True)
class Cast:
    """The roles of a run with their platforms, in order, and the platforms without a role."""

    roles: Mapping[str, str]
    others: Sequence[str]

    @property
    def platforms(self) -> list[str]:
        """All platforms of the run."""
        return [*self.roles.values(), *self.others]


def cast_roles(
    roles: Mapping[str, Role], given: Sequence[str], on: Sequence[str], *, where: str
) -> Cast:
    """Choose a platform for each role.

    - `given`: the command line's choices, each ``ROLE=PLATFORM``; ``ROLE=`` leaves the role out.
    - `on`: platforms that the command line names without a role. A platform that is a role's
      default takes this role, and then no other role keeps its default. A role without a platform
      takes one of its substitutes (`Role.instead`), even if another role loses it.

    Raises StudyError: a role does not exist, or one platform would take two roles.
    """
    named = dict(_assignment(text, roles, where) for text in given)
    chosen = _with_substitutes(_defaults(roles, named, on), roles, named, on)
    chosen = {name: chosen[name] for name in roles if name in chosen}
    taken = list(chosen.values())
    for platform in taken:
        if taken.count(platform) > 1:
            both = [name for name, value in chosen.items() if value == platform]
            raise StudyError(
                f"the platform '{platform}' is given for several roles: {' and '.join(both)}",
                where=where,
                hint=(
                    "give another platform for each role, or define this platform twice under two"
                    " names"
                ),
            )
    return Cast(chosen, [platform for platform in on if platform not in taken])


def _defaults(
    roles: Mapping[str, Role], named: Mapping[str, str], on: Sequence[str]
) -> dict[str, str]:
    """Return the platform of each role: the named platform, or the default if that is free.

    - `named`: the platform of each role that the command line gives, "" for no platform.
    """
    chosen: dict[str, str] = {}
    for name, role in roles.items():
        if name in named:
            platform: str | None = named[name]
        elif on and role.platform not in on:
            platform = None
        else:
            platform = role.platform
            if platform in named.values():
                continue  # its default plays another role
        if platform:
            chosen[name] = platform
    return chosen


def _with_substitutes(
    chosen: Mapping[str, str],
    roles: Mapping[str, Role],
    named: Mapping[str, str],
    on: Sequence[str],
) -> dict[str, str]:
    """Assign to each role without a platform the best substitute of the role's default.

    The substitute may have another role, which then loses it.
    """
    platforms = dict(chosen)
    for name, role in roles.items():
        if name in platforms or name in named:
            continue
        free = [platform for platform in role.instead if platform in on]
        free = [platform for platform in free if platform not in named.values()]
        if free:
            platforms = _without(platforms, free[0])
            platforms[name] = free[0]
    return platforms


def _without(platforms: Mapping[str, str], platform: str) -> dict[str, str]:
    """Return the platforms of roles, except the roles that have the platform `platform`."""
    return {role: taken for role, taken in platforms.items() if taken != platform}


def _assignment(text: str, roles: Mapping[str, Role], where: str) -> tuple[str, str]:
    name, equals, platform = text.partition("=")
    if not equals:
        raise StudyError(
            f"'{text}' assigns no platform to a role", where="--as", hint="write ROLE=PLATFORM"
        )
    if not roles:
        raise StudyError("the study has no roles", where=where, hint="name platforms with --on")
    if name not in roles:
        hint = did_you_mean(name, roles, f"the study has: {', '.join(roles)}")
        raise StudyError(f"the study has no role '{name}'", where=where, hint=hint)
    return name, platform
