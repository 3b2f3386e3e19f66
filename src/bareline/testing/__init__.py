"""Contracts of plug-ins: classes of tests that the package of a plug-in inherits.

A contract is a class. Derive one whose name begins with ``Test`` and define its attributes::

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
