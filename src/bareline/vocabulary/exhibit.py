"""An exhibit as a study asks for it, and as a run keeps it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class ExhibitSpec(BaseModel):
    """One ``[[exhibit]]``: a figure or table of a study; its keys are defined only here.

    - `kind`: name of a kind of exhibit, e.g. "curve" (see ``docs/reference/exhibits.md``).
    - `title`, `caption`: the texts above and below it.
    - `probe`: name of a probe, ``*`` matching anything; every probe without it.
    - `also`: further probes; a table of published factors shows the publication's values for
      them.
    - `metric`: without it, every metric of the probe that is not a detail.
    - `x`: parameter on the horizontal axis; chosen from the data without it.
    - `where`: parameters, or "platform", and the value or list of values to keep.
    - `rule`: how a publication reports where bareline would give medians: see
      ``docs/reference/exhibits.md``.
    - `scaling`: the meaning of the ideal line of an exhibit by ranks: the same problem,
      or a problem that grows with them.
    - `published`: published tables and figures that it repeats, e.g. ``nebula:table-4``.
    - `awaits`: the part without which it cannot be filled everywhere, if that does not exist
      yet.
    """

    model_config = ConfigDict(defer_build=True, frozen=True, strict=True)  # types are not converted

    kind: str
    title: str = ""
    caption: str = ""
    probe: str | None = None
    also: list[str] = []
    metric: str | None = None
    x: str | None = None
    where: dict[str, Any] = {}
    rule: Literal["", "best-against-worst", "mean", "sorted"] = ""
    scaling: Literal["strong", "weak"] = "strong"
    published: list[str] = []
    awaits: str = ""
