"""Check that the nodes of a job suit the run, before the job is submitted."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from bareline.platforms.base import NodeLook
from bareline.platforms.reached.slurm.needs import look_at_free_node
from bareline.platforms.reached.slurm.options import SlurmOptions
from bareline.session.batch import JobRequest
from bareline.vocabulary.errors import NotNow, PlatformError, UsageError
from bareline.vocabulary.units import count, listing


def see_to_nodes(
    request: JobRequest, largest: SlurmOptions | None, cores: int, *, builds: bool
) -> list[str]:
    """Examine a free node of a Slurm cluster before a job is submitted; return remarks.

    - `largest`: the options of the Slurm platform that needs the most nodes.
    - `cores`: the number of a node's cores that the largest layout of the plan needs.
    - `builds`: whether native programs are needed.

    Raises UsageError: the job could not start on a node of this cluster.
    """
    software = largest.wanted if largest is not None else ()
    try:
        look = look_at_free_node((*request.resources, *request.options), software)
    except NotNow as error:
        return [f"the nodes were not looked at: {error.what}"]
    except PlatformError as error:
        return [f"the nodes could not be looked at: {error.what}"]
    if not look.has_python:
        raise UsageError(
            f"the node {look.name} cannot start {sys.executable}, so that the job would fail"
            " at once",
            hint="install bareline (docs/how-to/install.md) in a folder that the nodes see at the "
            "same path, and submit with it",
        )
    return list(_remarks(look, cores, builds=builds))


def _remarks(look: NodeLook, cores: int, *, builds: bool) -> Iterator[str]:
    if builds and look.lacking and not look.has_build:
        lacking = listing(list(look.lacking))
        yield (
            f"{look.name} has no {lacking} and no build of the native programs, "
            "and trials that need them fail there: build first where a compiler is"
        )
    if look.cores < cores:
        yield (
            f"{look.name} has {count(look.cores, 'core')}, and the plan needs {cores} on a node: "
            "ranks share cores there"
        )
