"""Container runtimes of HPC sites that were never tested: Sarus and Enroot."""

from __future__ import annotations

from bareline.platforms.hosts.layers.container.runtimes import (
    EVERY_NAME,
    HOLDER,
    IMAGE,
    SHOWN,
    ImageKind,
    Runtime,
)

#: Variables of the host are those inside.
SARUS = Runtime(
    name="sarus",
    title="Sarus",
    program="sarus",
    images=frozenset({ImageKind.STORED}),
    start=("sarus", "run", SHOWN, IMAGE),
    read_only=("--mount=type=bind,source={},destination={},readonly",),
    writable=("--mount=type=bind,source={},destination={}",),
)
#: An image file (squashfs), or a container that was created, by its name.
ENROOT = Runtime(
    name="enroot",
    title="Enroot",
    program="enroot",
    images=frozenset({ImageKind.PATH, ImageKind.STORED}),
    start=("enroot", "start", EVERY_NAME, SHOWN, IMAGE),
    join=("enroot", "exec", EVERY_NAME, HOLDER),
    read_only=("--mount", "{}:{}:none:x-create=dir,bind,ro"),
    writable=("--mount", "{}:{}"),
    version="version",
)
