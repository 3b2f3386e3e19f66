"""Ids of what stands on a page, so that a sentence can lead to its evidence."""

from __future__ import annotations

import re


def slug(*parts: object) -> str:
    """Make an id for the page out of names, e.g. ``mpi-allreduce``."""
    text = "-".join(str(part) for part in parts if part != "")
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def layer_anchor(layer: str) -> str:
    """Id of a layer's section."""
    return slug("layer", layer)


def probe_anchor(probe: str) -> str:
    """Id of a probe's part of its layer's section."""
    return slug("probe", probe)
