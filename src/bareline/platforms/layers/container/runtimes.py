"""The former place of `bareline.platforms.hosts.layers.container.runtimes`.

Plug-ins under the entry-point group ``bareline.runtimes`` import a `Runtime` from here: the
documentation named this place.
"""

from bareline.platforms.hosts.layers.container.runtimes import (
    EVERY_NAME,
    FOLDERS,
    HERE,
    HOLDER,
    IMAGE,
    KEEPING_USER,
    SHOWN,
    Box,
    Expanded,
    ImageKind,
    Runtime,
    runtimes,
)

__all__ = [
    "EVERY_NAME",
    "FOLDERS",
    "HERE",
    "HOLDER",
    "IMAGE",
    "KEEPING_USER",
    "SHOWN",
    "Box",
    "Expanded",
    "ImageKind",
    "Runtime",
    "runtimes",
]
