#!/usr/bin/env python3
"""Run `scripts/packages.py`, which had this name."""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).with_name("packages.py")), run_name="__main__")
