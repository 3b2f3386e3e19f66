"""The quark propagator of `app.lattice` against a plain calculation in NumPy.

The same operator and source, on a lattice of class S with a random gauge field of this test's own,
site by site in the order of the axes, without parities, without lanes; solved by conjugate
gradients to the end. The app compares its solution with a sum over momenta; here nothing is
transformed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from .conftest import Apps, point_of

EXTENT = (8, 8, 8, 8)
MASS = 0.1
FAT, LONG = 9 / 8, -1 / 24


def bases(rng: np.random.Generator) -> np.ndarray:
    """Return a random unitary matrix on each site."""
    shape = (*EXTENT, 3, 3)
    unitary, _ = np.linalg.qr(rng.normal(size=shape) + 1j * rng.normal(size=shape))
    return np.asarray(unitary)


def source(g: np.ndarray) -> np.ndarray:
    """Fill the even sites and all colours, as native/apps/lattice/lattice_source.f90 says."""
    golden = (np.sqrt(5) - 1) / 2
    value = np.ones(EXTENT, complex)
    for mu, many in enumerate(EXTENT):
        wave = np.exp(2j * np.pi * (golden * (mu + 1) * np.arange(1, many + 1) ** 2 % 1))
        value *= wave.reshape([-1 if axis == mu else 1 for axis in range(4)])
    value[np.indices(EXTENT).sum(axis=0) % 2 == 1] = 0
    b = np.einsum("...ij,j->...i", g, np.full(3, 1 / np.sqrt(3))) * value[..., None]
    return b * np.sqrt(2 / np.prod(EXTENT))


def hop(x: np.ndarray, g: np.ndarray, mu: int, step: int) -> np.ndarray:
    """Bring the vectors `step` sites on along an axis here; antiperiodic in time."""
    there, bases_there = (np.roll(array, -step, axis=mu) for array in (x, g))
    here = np.einsum("...ij,...kj,...k->...i", g, bases_there.conj(), there)
    if mu == 3:
        t = np.arange(EXTENT[3]) + step
        here = here * np.where((t < 0) | (t >= EXTENT[3]), -1, 1)[:, None]
    return np.asarray(here)


def derivative(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return D x: fat and long links forwards less backwards, with the staggered phases."""
    sites = np.indices(EXTENT)
    total = np.zeros_like(x)
    for mu in range(4):
        eta = (-1.0) ** sites[:mu].sum(axis=0)
        for weight, step in ((FAT, 1), (LONG, 3)):
            both = hop(x, g, mu, step) - hop(x, g, mu, -step)
            total += 0.5 * weight * eta[..., None] * both
    return total


def solve(b: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Solve (m**2 - D D) x = b."""
    x = np.zeros_like(b)
    r = b.copy()
    p = r.copy()
    square = np.vdot(r, r).real
    while square > 1e-26:
        q = MASS**2 * p - derivative(derivative(p, g), g)
        alpha = square / np.vdot(p, q).real
        x += alpha * p
        r -= alpha * q
        before, square = square, np.vdot(r, r).real
        p = r + square / before * p
    return x


@pytest.mark.mpi
def test_the_propagator_is_that_of_a_plain_calculation(apps: Apps, tmp_path: Path) -> None:
    done = apps.run("app.lattice", "S")
    assert done.returncode == 0, done.stderr
    own = {row["name"]: row["value"] for row in point_of(done)["verification"]}
    g = bases(np.random.default_rng(26))
    b = source(g)
    x = solve(b, g)
    assert np.vdot(b, b).real == pytest.approx(1, rel=1e-12)
    assert own["propagator"] == pytest.approx(np.vdot(b, x).real, rel=1e-10)
    assert own["square"] == pytest.approx(np.vdot(x, x).real, rel=1e-10)
