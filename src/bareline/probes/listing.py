"""What ``bareline probes`` tells about probes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bareline.probes.base import find_probe, load_probes
from bareline.vocabulary.model import Layout


def probe_rows(name: str | None = None) -> list[dict[str, Any]]:
    """List the probes, or one of them, with parameters and metrics.

    Raises ProbeError: there is no probe of that name.
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
            "nodes": probe.nodes,
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


def required_programs() -> Mapping[str, tuple[str, ...]]:
    """Give the external programs that probes run as they come, and which probes those are.

    Without the shell that starts some of them: it is on every node, and no benchmark.
    """
    needed: dict[str, list[str]] = {}
    for probe in load_probes().values():
        layout = Layout(nodes=2, ranks_per_node=max(1, probe.min_ranks // 2))
        for name in probe.command(probe.make_params({}), layout).requires:
            if name != "sh":
                needed.setdefault(name, []).append(probe.name)
    return {name: tuple(probes) for name, probes in needed.items()}
