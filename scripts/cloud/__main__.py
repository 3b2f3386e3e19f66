"""Run an OpenStack control plane on this machine, in one folder, until this process is told to end.

    /usr/bin/python3 scripts/cloud FOLDER

Keystone, Glance, Neutron, Placement and Nova are the packages of the distribution, whose Python
this needs. When all of them answer, the path of a `clouds.yaml` is printed. Everything ends with
this process, however it ends, and this process with the one that started it.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import time
from importlib.util import find_spec
from pathlib import Path

#: How long all services may take together on a busy machine.
_START_S = 280.0
_SERVICES = ("keystone", "glance", "neutron", "placement", "nova")


def main() -> int:
    """Start, fill, say so, and wait."""
    parent = os.getppid()
    asked = _parser().parse_args()
    missing = [name for name in _SERVICES if find_spec(name) is None]
    if missing or asked.check:
        packages = " ".join(f"python3-{name}" for name in missing)
        hint = f"OpenStack is not installed; to get it: apt-get install {packages}"
        print(hint if missing else "all is here", file=sys.stderr)
        return 2 if missing else 0
    folder = asked.folder.absolute()
    began = time.monotonic()
    from plane import die_with_parent, end, start, wait_ready, wait_until_told

    die_with_parent(parent, signal.SIGTERM)
    folder.mkdir(parents=True)
    place, children = start(
        folder,
        subnet=asked.subnet,
        computes=asked.computes,
        quota=asked.quota,
        guests=asked.guests and asked.guests.absolute(),
    )
    try:
        wait_ready(place, children, _START_S)
        from contents import fill, write_clouds

        fill(place)
        write_clouds(place)
        print(f"cloud: ready after {time.monotonic() - began:.1f} s", file=sys.stderr)
        print(place.file("clouds.yaml"), flush=True)
        return wait_until_told(children)
    finally:
        end(children)
        if asked.remove:
            shutil.rmtree(folder, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("cloud", description=__doc__.splitlines()[0])
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("cloud"),
        help="for all its files; must not exist",
    )
    parser.add_argument("--subnet", default="10.97.0.0/24", help="addresses of instances")
    parser.add_argument("--computes", type=int, default=4, help="hosts that instances are on")
    parser.add_argument("--quota", type=int, default=10, help="instances that its user may have")
    parser.add_argument(
        "--guests", type=Path, help="folder that image.py made: instances are emulated guests"
    )
    parser.add_argument("--check", action="store_true", help="only say whether all is installed")
    parser.add_argument("--remove", action="store_true", help="remove the folder at the end")
    return parser


if __name__ == "__main__":
    sys.exit(main())
