"""The probes (benchmarks and applications), found by name; see `bareline.probes.base`."""

from bareline.probes.base import Probe, find_probe, load_probes

__all__ = ["Probe", "find_probe", "load_probes"]
