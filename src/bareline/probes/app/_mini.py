"""What the probes of the mini-apps have in common.

A mini-app is a small program of ours, ``app_ocean`` and so on, with the numerics and the
communication of a large one; ``docs/method/apps.md`` says what each keeps and what it does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from bareline.probes._kernel import Kernel, kernel_metrics
from bareline.vocabulary.model import Layer, Metric


@dataclass(frozen=True, slots=True)
class MiniAppParams:
    """Parameters of a mini-app.

    Attributes
    ----------
    problem_class
        Size of the problem: S, W, A, B or C, each several times the one before.
    """

    problem_class: Literal["S", "W", "A", "B", "C"] = "W"


P = TypeVar("P", bound=MiniAppParams)


class MiniProgram(Kernel[P]):
    """A mini-app; its rate counts what its page of the documentation says, cells or sites."""

    layer: ClassVar[Layer] = Layer.APP
    metrics: ClassVar[Mapping[str, Metric]] = kernel_metrics("op/s")
    suite: ClassVar[str] = "app"


class MiniApp(MiniProgram[MiniAppParams]):
    """A mini-app of which nothing but the size can be chosen."""

    params: type[MiniAppParams] = MiniAppParams


def squarest(ranks: int) -> tuple[int, int]:
    """Cut a number of ranks into two factors, as equal as can be, the smaller one first."""
    width = next(n for n in range(math.isqrt(ranks), 0, -1) if ranks % n == 0)
    return width, ranks // width


def prime_factors(number: int) -> list[int]:
    """Give the prime factors of a number, the smallest first."""
    factors = []
    factor = 2
    while number > 1:
        if number % factor == 0:
            factors.append(factor)
            number //= factor
        else:
            factor += 1
    return factors
