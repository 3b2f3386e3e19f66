"""An exhibit (a figure or table of a report), as a study requests it and a run stores it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class ExhibitSpec(BaseModel):
    """One ``[[exhibit]]``: a figure or table of a study; its keys are defined only here.

    - `kind`: the name of a kind of exhibit, e.g. "curve" (see ``docs/reference/exhibits.md``).
    - `title`: the text above the exhibit.
    - `caption`: the text below the exhibit.
    - `probe`: the name of a probe, in which ``*`` matches anything; without it every probe.
    - `also`: further probes; a table of published factors shows the publication's values for them.
    - `metric`: the name of a metric; without it every metric of the probe, except details (metrics
      that only describe another metric).
    - `x`: the parameter on the horizontal axis; without it, the data determine this parameter.
    - `where`: parameters, or "platform", with the value or the list of values to keep.
    - `rule`: the statistic that a publication reports in place of bareline's medians: see
      ``docs/reference/exhibits.md``.
    - `scaling`: the assumption of the ideal line in an exhibit by ranks: a problem of the same size
      ("strong"), or a problem that grows with the ranks ("weak").
    - `published`: the published tables and figures that the exhibit repeats, e.g.
      ``nebula:table-4``.
    - `awaits`: the missing part of bareline without which some cells of the exhibit stay empty;
      empty if no part is missing.
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
