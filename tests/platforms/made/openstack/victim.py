"""Brings a platform up and is killed at a planned line of its journal.

    python victim.py LINE before|after

Before a line, what the line says has happened and is not written down; after it, the next request
is not sent.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from itertools import count
from pathlib import Path

from bareline.platforms.base import Context
from bareline.platforms.made.cloud import journal as remains
from bareline.platforms.made.cloud.journal import Journal
from bareline.platforms.made.cloud.openstack import OpenStackOptions
from bareline.platforms.made.openstack import OpenStackPlatform
from bareline.vocabulary.model import Layout
from bareline.vocabulary.platform import PlatformSpec

LINE, WHEN = int(sys.argv[1]), sys.argv[2]
_LINES = count(1)
_WRITE = Journal._write


def write(self, entry):
    """Write a line, unless it is the last thing that this process does."""
    number = next(_LINES)
    if (number, WHEN) == (LINE, "before"):
        os.kill(os.getpid(), signal.SIGKILL)
    _WRITE(self, entry)
    if (number, WHEN) == (LINE, "after"):
        os.kill(os.getpid(), signal.SIGKILL)


Journal._write = write
# A test looks at what each of several leaves: they must not remove it for each other.
remains.clean = lambda *_, **__: []
asked = OpenStackOptions(
    cloud="bareline", image="stand-in", flavor="small", instances=1, placement="affinity"
)
with tempfile.TemporaryDirectory() as scratch:
    platform = OpenStackPlatform(PlatformSpec("cloud", "openstack", asked), Context(Path(scratch)))
    with platform.acquire(Layout()):
        sys.exit("was not killed")
