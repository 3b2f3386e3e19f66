"""Verbs about platforms: platforms, platforms show, from-reframe, from-benchpark, clean."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from bareline.cli import completing
from bareline.cli.options import PlatformsOption
from bareline.cli.output import EXIT_USAGE, emit, emit_blocks, print_error
from bareline.cli.verbs import argument, flag, prints
from bareline.vocabulary.errors import PlatformError, UsageError

if TYPE_CHECKING:
    from bareline.platforms.site import SitePlatforms


class _PlatformsGroup(TyperGroup):
    """A group whose error for an unknown command proposes to show the platform of this name.

    Otherwise the error would suggest the command 'clean' for the platform 'lan'.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if not name.startswith("-") and name not in self.commands:
            ctx.fail(
                f"No such command '{name}'. `bareline platforms show {name}` shows a platform."
            )
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="platforms",
    cls=_PlatformsGroup,
    help="List the platforms, show one, or remove the remains of a killed bareline.",
    invoke_without_command=True,
    rich_markup_mode=None,
)


@app.callback()
@prints("platforms", "platforms.listing.PlatformListed")
def list_(context: typer.Context, platforms: PlatformsOption = None) -> None:
    """List the available platforms, and why the rest is not available."""
    if context.invoked_subcommand is not None:
        return
    from bareline.platforms.listing import platform_rows, unused_types
    from bareline.report.terminal.listings import platform_blocks

    wrong: dict[str, PlatformError] = {}
    rows = platform_rows(platforms, wrong)
    emit_blocks(lambda: rows, lambda: platform_blocks(rows))
    for line in (*map(str, wrong.values()), *unused_types(rows)):
        print_error(line)
    if wrong:
        raise typer.Exit(EXIT_USAGE)


@app.command()
@prints("platforms-show", "platforms.listing.PlatformShown", alone=True)
def show(
    name: Annotated[str, argument("NAME", autocompletion=completing.platforms)],
    platforms: PlatformsOption = None,
    xml: Annotated[
        bool, flag("--xml", "Print the libvirt definition of a virtual machine.")
    ] = False,
) -> None:
    """Show a platform as it is configured, defaults included."""
    from bareline.platforms.base import load_platform_types
    from bareline.platforms.config import choose_platforms
    from bareline.platforms.listing import spec_toml

    spec = choose_platforms([name], platforms)[0]
    if xml:
        print(load_platform_types()[spec.type].definition(spec))
        return
    emit(
        lambda: {"name": spec.name, **spec.to_dict()},
        lambda _: print(spec_toml(spec), end=""),
    )


@app.command(name="from-reframe")
@prints("platforms-from-reframe", "platforms.site.FromReframe", alone=True)
def from_reframe(
    file: Annotated[Path, argument("FILE", "Configuration of ReFrame in JSON.")],
) -> None:
    """Write the partitions of a ReFrame configuration as a platform file."""
    from bareline.platforms.reframe import read_site

    _print_site(read_site(file))


@app.command(name="from-benchpark")
@prints("platforms-from-benchpark", "platforms.site.FromReframe", alone=True)
def from_benchpark(
    place: Annotated[
        Path, argument("PLACE", "File variables.yaml of Ramble, or a folder of such files.")
    ],
) -> None:
    """Write the system definitions of Benchpark or Ramble as a platform file."""
    from bareline.vocabulary.plugins import brought

    for where, read in brought("bareline.sites"):
        if "benchpark" in where:
            _print_site(read(place))
            return
    raise UsageError(
        "bareline-contrib, which reads definitions of Benchpark, is not installed",
        hint="pip install 'bareline-contrib[benchpark]'",
    )


def _print_site(site: SitePlatforms) -> None:
    emit(
        lambda: {"platform": site.tables, "notes": site.notes},
        lambda _: print(site.toml(), end=""),
    )


@app.command()
@prints("platforms-clean", "platforms.listing.Removed", to_file=False)
def clean() -> None:
    """Remove the remains of a killed bareline; other users' files are not touched."""
    from bareline.platforms.listing import clean as remove_remains

    removed = remove_remains()
    emit(
        lambda: [{"removed": line} for line in removed],
        lambda _: print("\n".join(removed) or "nothing was left behind"),
    )
