"""The output of ``bareline platforms``, and the part of ``bareline build`` about platforms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import TypedDict

from bareline.host.cache import cache_folder
from bareline.platforms.base import availability_of, load_platform_types, running_of
from bareline.platforms.config import choose_platforms, load_platforms
from bareline.platforms.hosts.layers.container.images import clean_images
from bareline.platforms.localhost.allocation import build_here
from bareline.vocabulary.errors import BarelineError, PlatformError, StoreError, one_line
from bareline.vocabulary.platform import PlatformSpec
from bareline.vocabulary.rows import open_row, row_of


class PlatformListed(TypedDict):
    """A row of ``platforms``: a platform, and whether it can be used here."""

    platform: str
    type: str
    title: str
    nodes: int
    builtin: bool
    available: bool
    reason: str
    hint: str
    running: str


@open_row
class PlatformShown(TypedDict):
    """A row of ``platforms show``: a configured platform; its options are further columns."""

    name: str
    type: str


class Removed(TypedDict):
    """A row of ``platforms clean``: a leftover that was removed."""

    removed: str


def platform_rows(
    path: Path | None = None, wrong: dict[str, PlatformError] | None = None
) -> list[PlatformListed]:
    """Return every platform, whether it is available here, and the reason if it is not."""
    rows = []
    for spec in load_platforms(path, wrong).values():
        available = availability_of(spec)
        rows.append(
            row_of(
                PlatformListed,
                spec,
                platform=spec.name,
                nodes=spec.options.node_count,
                available=available.ok,
                reason=available.reason,
                hint=available.hint,
                running=running_of(spec),
            )
        )
    return rows


def unused_types(rows: list[PlatformListed]) -> list[str]:
    """Return a hint for each platform type of a plug-in that no platform uses."""
    used = {row["type"] for row in rows}
    lines = []
    for name, platform in load_platform_types().items():
        if name in used or platform.__module__.partition(".")[0] == "bareline":
            continue
        needed = [
            key for key, field in platform.options.model_fields.items() if field.is_required()
        ]
        options = "".join(f", {key} = ..." for key in needed)
        package = platform.__module__.partition(".")[0]
        lines.append(
            f"type '{name}' of {package} is installed, and no platform is of it; in platforms.toml "
            f'write: platform.NAME = {{ type = "{name}"{options} }}'
        )
    return lines


def spec_toml(spec: PlatformSpec) -> str:
    """Return a platform as text for a platform file, with the default values."""
    import tomli_w

    return tomli_w.dumps({"platform": {spec.name: spec.to_dict()}})


def clean() -> list[str]:
    """Remove the leftovers of killed bareline processes, for all platform types.

    Return a line for each leftover.
    """
    lines = []
    for name, platform in load_platform_types().items():
        try:
            lines += platform.clean()
        except Exception as error:  # types of third parties
            why = error if isinstance(error, BarelineError) else f"{type(error).__name__}: {error}"
            lines.append(one_line(f"{name}: cannot be looked at, something may be left: {why}"))
    try:
        lines += clean_images(cache_folder())
    except (OSError, StoreError) as error:
        lines.append(one_line(f"images of containers: cannot be looked at: {error}"))
    return lines


def build_for(name: str, path: Path | None = None) -> dict[str, Any]:
    """Build the native programs for a platform; see `Platform.build`."""
    spec = choose_platforms([name], path)[0]
    built = load_platform_types()[spec.type].build(spec, cache_folder())
    return {"platform": name, **built.to_dict()}


def build_row(mpi: str) -> dict[str, Any]:
    """Build the native programs for an MPI library, or find them in the cache."""
    return build_here(mpi, cache_folder()).to_dict()
