"""What a run keeps of predictions: the times that programs were to take."""

from __future__ import annotations

import json
from collections.abc import Mapping

from bareline.analysis.numbers.records import Records
from bareline.vocabulary.model import format_point, parse_point
from bareline.vocabulary.place import Place

#: The models whose time is told, the best first: `bareline.predict.validation` names them.
_MODELS = ("replay", "delta")

#: Seconds by platform and application.
Predicted = Mapping[tuple[str, str], float]


def application_of(place: Place) -> str:
    """Name a program's case as predictions do; being profiled makes it no other one."""
    params = {key: value for key, value in parse_point(place.params).items() if key != "profile"}
    parts = [place.probe, format_point(params), f"ranks={place.ranks}"]
    parts += [f"threads={place.threads}"] if place.threads > 1 else []
    parts += [f"nodes={place.nodes}"] if place.nodes else []
    return " ".join(filter(None, parts))


def predicted_times(records: Records, baseline: str) -> Predicted:
    """Give what was predicted from the baseline; nothing where none was kept or read."""
    found: dict[tuple[str, str], float] = {}
    for run in records.runs:
        try:
            trials = json.loads(run.read_predictions() or b"{}")["validation"]["trials"]
            for model in reversed(_MODELS):
                for row in trials:
                    if row["model"] == model and row["base"] == baseline and row["time_s"]:
                        found[row["platform"], row["application"]] = float(row["time_s"])
        except (KeyError, TypeError, ValueError):
            continue  # of another version: `bareline predict` says so where it is asked
    return found
