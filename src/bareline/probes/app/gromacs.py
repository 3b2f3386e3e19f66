"""The probe of GROMACS: liquid water, molecular dynamics with long-range forces.

The code is Debian's unchanged package ``gromacs``, built with Open MPI and with threads. GROMACS
itself fills a box with water molecules of the SPC/E model. In every step, the particle-mesh Ewald
sum needs a Fourier transform over all ranks.

References
----------
M. J. Abraham et al., "GROMACS", SoftwareX 1-2 (2015), doi:10.1016/j.softx.2015.06.001.
H. J. C. Berendsen, J. R. Grigera, T. P. Straatsma, "The missing term in effective pair
potentials", J. Phys. Chem. 91, 6269 (1987), doi:10.1021/j100308a038: the water.
"""

from __future__ import annotations

from bareline.probes.app.program import Program, program_probe
from bareline.probes.app.value import FigureOfMerit, Value

_TOPOLOGY = """\
[ defaults ]
1 2 no 1.0 1.0
[ atomtypes ]
OW 8 15.9994 -0.8476 A 3.16557e-01 6.50194e-01
HW 1 1.008 0.4238 A 0.0 0.0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 -0.8476
2 HW 1 SOL HW1 1 0.4238
3 HW 1 SOL HW2 1 0.4238
[ settles ]
1 1 0.1 0.16330
[ exclusions ]
1 2 3
2 1 3
3 1 2
[ system ]
Water
[ molecules ]
"""
_RUN = """\
integrator = md
dt = 0.002
nsteps = {steps}
cutoff-scheme = Verlet
coulombtype = PME
rcoulomb = 0.9
rvdw = 0.9
tcoupl = v-rescale
tc-grps = System
tau-t = 0.1
ref-t = 300
gen-vel = yes
gen-temp = 300
gen-seed = 87287
ld-seed = 87287
nstcomm = 100
nstlog = {steps}
nstenergy = {steps}
"""

_COMMAND = """
gmx_mpi mdrun -s water.tpr -g water.log -nb cpu -ntomp {threads} -pin off -noconfout -resethway
"""
_STEPS = (
    "gmx solvate -cs spc216.gro -o box.gro -p water.top -box {box_nm} {box_nm} {box_nm}",
    "gmx grompp -f water.mdp -c box.gro -p water.top -o water.tpr -maxwarn 2",
)

PROBE = program_probe(
    "app.gromacs",
    Program(
        title="GROMACS's time for liquid water",
        summary="GROMACS: SPC/E water with particle-mesh Ewald",
        source="GROMACS, mdrun",
        # In the first half of the steps, GROMACS balances and tunes; it then restarts its timing.
        command=_COMMAND.split(),
        steps=[step.split() for step in _STEPS],
        inputs={"water.top": _TOPOLOGY, "water.mdp": _RUN},
        params={"box_nm": 3.72412, "steps": 400},
        complete=r"^Finished mdrun on rank 0 .* \d{4}$",
        metrics={"time": FigureOfMerit(regex=r"^ +Time: +\S+ +(\S+) +\S+$", file="water.log")},
        values={
            "atoms": Value(regex=r"^ *There are: (\d+) Atoms", file="water.log"),
            "temperature": Value(
                regex=r"A V E R A G E S[\s\S]*?Temperature Pressure \(bar\)[^\n]*\n"
                r" +\S+ +\S+ +(\S+)",
                file="water.log",
            ),
            "drift": Value(regex=r"^ *Conserved energy drift: (\S+) kJ", file="water.log"),
        },
        verify=[
            # Water has 100 atoms in a cubic nanometre.
            "90 < atoms / (box_nm * box_nm * box_nm) < 110",
            "abs(temperature - 300) < 30",
            "abs(drift) < 2",
        ],
    ),
    """GROMACS's water.

    Attributes
    ----------
    box_nm
        Side of the cube; a multiple of 1.86206, the side of the sample that fills it.
    steps
        Steps of 2 fs; the second half is timed.
    """,
)
