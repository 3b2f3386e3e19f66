"""Contracts of plug-ins: classes of tests from which the tests of a plug-in inherit.

Derive a class whose name begins with ``Test`` from a contract, and define its attributes::

from bareline.testing.probes import ProbeContract

    class TestPulse(ProbeContract):
        probe = PROBE
        captured = Path("pulse.out")

The same classes test bareline's own probes, platforms, importers, exhibits, studies and causes.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(
        f"bareline.testing.{room}"
        for room in (
            "causes",
            "exhibits",
            "hostile",
            "importers",
            "messages",
            "platforms",
            "probes",
            "studies",
        )
    )
)
