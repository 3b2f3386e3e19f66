"""Start a unit test on several ranks and pass its messages and exit code on."""

from __future__ import annotations

import argparse
import sys

from protocol import Launcher


def main() -> int:
    """Run the test."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("program")
    options = parser.parse_args()
    result = Launcher(options.launcher).run(options.ranks, options.program)
    print(result.stdout, result.stderr, sep="\n")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
