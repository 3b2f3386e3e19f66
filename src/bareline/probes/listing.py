"""What ``bareline probes`` tells about probes."""

from __future__ import annotations

from typing import Any

from bareline.probes.base import find_probe, load_probes


def probe_rows(name: str | None = None) -> list[dict[str, Any]]:
    """List the probes, or one of them, with parameters and metrics.

    Raises
    ------
    ProbeError
        There is no probe of that name.
    """
    chosen = list(load_probes().values()) if name is None else [find_probe(name)]
    return [
        {
            "probe": probe.name,
            "layer": probe.layer.value,
            "title": probe.title,
            "summary": probe.summary,
            "source": probe.source,
            "min_ranks": probe.min_ranks,
            "headline": probe.headline,
            "params": probe.defaults(),
            "metrics": [
                {
                    "metric": name,
                    "unit": metric.unit,
                    "better": metric.better,
                    "detail": metric.detail,
                }
                for name, metric in probe.metrics.items()
            ],
            "about": (probe.params.__doc__ or "").strip(),
        }
        for probe in chosen
    ]
