"""The mini-app ocean once more, in numpy, for its verification values.

Written from the equations in ``native/apps/ocean/ocean_dynamics.f90``: fluxes through faces of a
staggered grid (u on west, v on south, w on upper faces), steps of Adams and Bashforth, a rigid lid.
Unlike the program it keeps the whole basin, integrates w from the bottom for all columns at once
and finds the lid's pressure by Fourier transforms, so that nothing is iterated or exchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float64]
#: Axes of fields: x, y, level (from the top).
X, Y, Z = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Basin:
    """A basin of unit width, n by n cells in levels; the constants of ``ocean_problem.f90``."""

    n: int
    levels: int
    depth: float = 0.1
    coriolis: float = 10.0
    viscosity: tuple[float, float] = (1e-3, 1e-5)
    diffusivity: tuple[float, float] = (1e-3, 1e-5)
    expansion: float = 40.0
    contraction: float = 10.0
    courant: float = 0.1

    @property
    def width(self) -> float:
        """Of a cell, along x and y."""
        return 1 / self.n

    @property
    def height(self) -> float:
        """Of a cell."""
        return self.depth / self.levels


def west(a: Field, axis: int = X) -> Field:
    """Return each cell its neighbour's number in the west (axis Y: in the south)."""
    return np.roll(a, 1, axis)


def east(a: Field, axis: int = X) -> Field:
    """Return each cell its neighbour's number in the east (axis Y: in the north)."""
    return np.roll(a, -1, axis)


def upper(a: Field) -> Field:
    """Return each cell the number of the one above, its own at the top."""
    return np.concatenate([a[:, :, :1], a[:, :, :-1]], axis=Z)


def vertical(u: Field, v: Field, basin: Basin) -> Field:
    """Integrate w on upper faces from the bottom, without flow through it."""
    divergence = ((east(u) - u) + (east(v, Y) - v)) / basin.width
    return -np.cumsum(divergence[:, :, ::-1], axis=Z)[:, :, ::-1] * basin.height


def transported(
    a: Field, flow: tuple[Field, Field, Field], mixing: tuple[float, float], basin: Basin
) -> Field:
    """Return the tendency of a by its fluxes through west, south and upper faces of its cells.

    Nothing goes through lid and bottom; of a flow that the lid lets through, the divergence stays.
    """
    change = np.zeros_like(a)
    for axis in (X, Y):
        slope = (a - west(a, axis)) / basin.width
        flux = flow[axis] * (a + west(a, axis)) / 2 - mixing[0] * slope
        change -= (east(flux, axis) - flux) / basin.width
    flux = flow[2] * (a + upper(a)) / 2 - mixing[1] * (upper(a) - a) / basin.height
    flux[:, :, 0] = 0
    below = np.concatenate([flux[:, :, 1:], np.zeros_like(flux[:, :, :1])], axis=Z)
    change -= (flux - below) / basin.height
    return change


def tendencies(state: list[Field], basin: Basin) -> list[Field]:
    """Return those of u, v, T and S."""
    u, v, t, s = state
    w = vertical(u, v, basin)
    weight = (basin.contraction * s - basin.expansion * t) * basin.height / 2
    pressure = np.cumsum(weight, axis=Z) + from_above(np.cumsum(weight, axis=Z))
    around_u = tuple((a + west(a)) / 2 for a in (u, v, w))
    around_v = tuple((a + west(a, Y)) / 2 for a in (u, v, w))
    du = transported(u, around_u, basin.viscosity, basin)  # type: ignore[arg-type]
    dv = transported(v, around_v, basin.viscosity, basin)  # type: ignore[arg-type]
    v_at_u, u_at_v = (around_u[1] + east(around_u[1], Y)) / 2, (around_v[0] + east(around_v[0])) / 2
    du += basin.coriolis * v_at_u - (pressure - west(pressure)) / basin.width
    dv += -basin.coriolis * u_at_v - (pressure - west(pressure, Y)) / basin.width
    return [du, dv, *(transported(a, (u, v, w), basin.diffusivity, basin) for a in (t, s))]


def from_above(a: Field) -> Field:
    """Return each level the number of the one above, nothing at the top."""
    return np.concatenate([np.zeros_like(a[:, :, :1]), a[:, :, :-1]], axis=Z)


def without_divergence(u: Field, v: Field, basin: Basin) -> tuple[Field, Field]:
    """Take the gradient of the lid's pressure from the currents of all levels."""
    mean_u, mean_v = u.mean(axis=Z), v.mean(axis=Z)
    divergence = (east(mean_u) - mean_u + east(mean_v, Y) - mean_v) / basin.width
    wave = (2 - 2 * np.cos(2 * np.pi * np.fft.fftfreq(basin.n))) / basin.width**2
    symbol = wave[:, None] + wave[None, :]
    symbol[0, 0] = 1
    spectrum = np.fft.fft2(divergence) / -symbol
    spectrum[0, 0] = 0
    p = np.fft.ifft2(spectrum).real
    du, dv = (p - west(p)) / basin.width, (p - west(p, Y)) / basin.width
    return u - du[:, :, None], v - dv[:, :, None]


def first_state(basin: Basin) -> list[Field]:
    """A stratified ocean with eddies, as the program begins with it."""
    at = 2 * np.pi * (np.arange(basin.n) + 0.5) / basin.n
    x, y = at[:, None, None], at[None, :, None]
    z = (np.pi * (np.arange(basin.levels) + 0.5) / basin.levels)[None, None, :]
    return [
        0.5 * np.sin(y)
        + 0.2 * np.cos(2 * y)
        + 0.2 * np.cos(z) * np.sin(x - basin.width / 2) * np.cos(y),
        0.3 * np.cos(x) + 0.2 * np.cos(z) * np.sin(2 * x) + 0 * y,
        np.cos(z) + 0.1 * np.sin(z) * np.cos(x) * np.sin(2 * y),
        0.2 * np.sin(z) * np.sin(2 * x) * np.cos(y) - 0.5 * np.cos(z),
    ]


def run(basin: Basin, steps: int) -> dict[str, float]:
    """Return the kinetic energy and the temperature's variance after so many steps."""
    state = first_state(basin)
    dt = basin.courant * basin.width
    before = None
    for _ in range(steps):
        now = tendencies(state, basin)
        change = (
            now if before is None else [1.5 * a - 0.5 * b for a, b in zip(now, before, strict=True)]
        )
        state = [a + dt * c for a, c in zip(state, change, strict=True)]
        state[:2] = without_divergence(state[0], state[1], basin)
        before = now
    u, v, t, _ = state
    return {
        "kinetic_energy": float((u**2 + v**2).mean() / 2),
        "temperature_variance": float((t**2).mean()),
    }
