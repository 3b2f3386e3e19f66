"""How many examples a property has: a quarter in `make test`, all of them in the rest."""

from hypothesis import settings

#: Examples of a property that names no number, as Hypothesis has them.
FULL = 100
QUICK = 25

settings.register_profile("bareline", deadline=None, derandomize=True, max_examples=FULL)
settings.register_profile("quick", deadline=None, derandomize=True, max_examples=QUICK)
settings.register_profile("random", deadline=None, max_examples=FULL)


def examples(full: int) -> int:
    """Return the share of a number of examples that this session tries, at least one."""
    return max(1, full * settings().max_examples // FULL)
