"""The probe of LAMMPS: a Lennard-Jones liquid, molecular dynamics with short-range forces.

The code is Debian's unchanged package ``lammps``, built with Open MPI. A crystal melts at constant
energy. Neighbouring ranks exchange positions in every step, and every few steps atoms move to
another rank.

References
----------
A. P. Thompson et al., "LAMMPS - a flexible simulation tool", Comp. Phys. Comm. 271 (2022),
doi:10.1016/j.cpc.2021.108171.
"""

from __future__ import annotations

from bareline.probes.app.program import Program, program_probe
from bareline.probes.app.value import FigureOfMerit, Value

_INPUT = """\
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 {cells} 0 {cells} 0 {cells}
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 5 delay 0 check yes
fix 1 all nve
thermo_style custom step temp etotal
thermo_modify format float %.10g
thermo {steps}
run {steps}
"""
_ROW = r"^ *{step} +\S+ +(\S+) *$"

PROBE = program_probe(
    "app.lammps",
    Program(
        title="LAMMPS's time for a Lennard-Jones liquid",
        summary="LAMMPS: a Lennard-Jones liquid of 4 cells^3 atoms",
        source="LAMMPS, bench/in.lj's kind",
        command=["lmp", "-in", "in.liquid", "-log", "none"],
        inputs={"in.liquid": _INPUT},
        params={"cells": 10, "steps": 100},
        complete=r"^Total wall time: \d+:\d\d:\d\d$",
        metrics={
            "time": FigureOfMerit(regex=r"^Loop time of (\S+) on \d+ procs for \d+ steps"),
            "communication": FigureOfMerit(
                regex=r"^Comm +\|.*\| *(\S+)$", unit="%", better="none", detail=True
            ),
        },
        values={
            "atoms": Value(regex=r"^Loop time of .* steps with (\d+) atoms"),
            "steps_done": Value(regex=r"^Loop time of .* procs for (\d+) steps"),
            "energy_before": Value(regex=r"^ *0 +\S+ +(\S+) *$"),
            "energy_after": Value(regex=r"^ *[1-9]\d* +[\d.]+ +(-\d\S*) *$"),
        },
        verify=[
            "atoms == 4 * cells * cells * cells",
            "steps_done == steps",
            # The crystal's energy is known; the integrator conserves energy.
            "abs(energy_before + 4.6139) < 0.01",
            "abs(energy_after - energy_before) < 0.02",
        ],
    ),
    """LAMMPS's liquid.

    Attributes
    ----------
    cells
        Cells of the crystal along each side, of four atoms each.
    steps
        Steps of 0.005 in units of the potential.
    """,
)
