"""The former name of `bareline.platforms.hosts.layers.container.runtimes`.

Plug-ins under the entry-point group ``bareline.runtimes`` import `Runtime` from this module,
because earlier documentation gave its name.
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
