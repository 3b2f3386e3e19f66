"""Sum up how long the tests of each room took, and say which room is above its budget.

    python scripts/budgets.py FILE

Each line of the file is what one lane of `make test` spent (see tests/conftest.py), as JSON.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter
from pathlib import Path

BUDGETS = Path(__file__).parents[1] / "tests" / "budgets.toml"


def main() -> None:
    """Print a line for each room, the longest first."""
    spent = Counter[str]()
    for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
        spent.update(json.loads(line))
    budgets = tomllib.loads(BUDGETS.read_text(encoding="utf-8"))
    print(f"seconds by room (budget): {spent.total():.0f} ({sum(budgets.values())})")
    for room, seconds in spent.most_common():
        budget = budgets.get(room, budgets["others"])
        mark = "  ABOVE" if seconds > budget else ""
        print(f"{room:18} {seconds:6.1f} ({budget}){mark}")


if __name__ == "__main__":
    main()
