"""What every plug-in must do, as tests that a package of your own takes over.

A contract is a class. Derive one whose name begins with ``Test`` and give it what it asks for::

    from bareline.testing.probes import ProbeContract

    class TestPulse(ProbeContract):
        probe = PROBE
        captured = Path("pulse.out")

bareline's own probes, platforms, importers, exhibits and studies go through the same classes.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(
    *(
        f"bareline.testing.{room}"
        for room in ("exhibits", "hostile", "importers", "platforms", "probes", "studies")
    )
)
