"""The probe of Quantum ESPRESSO: plane waves for crystalline silicon.

The code is Debian's unchanged package ``quantum-espresso``, built with Open MPI. Its numerical
methods are the same as PARATEC's: Fourier transforms by transposes over all ranks, matrix products,
and an eigenvalue problem at every point of the Brillouin zone.

References
----------
P. Giannozzi et al., J. Phys.: Condens. Matter 29, 465901 (2017), doi:10.1088/1361-648X/aa8f79.
S. Goedecker, M. Teter, J. Hutter, "Separable dual-space Gaussian pseudopotentials", Phys. Rev. B
54, 1703 (1996), doi:10.1103/PhysRevB.54.1703: the potential of silicon.
"""

from __future__ import annotations

from bareline.probes._native import TELL_KERNELS
from bareline.probes.app.program import Program, program_probe
from bareline.probes.app.value import FigureOfMerit, Value

_POTENTIAL = """\
Goedecker, Teter, Hutter: silicon, LDA
14 4 960101
10 1 1 0 2001 0
0.44000000 1 -7.33610297
2
0.42273813 2 5.90692831 -1.26189397
3.25819622
0.48427842 1 2.72701346
0.0
"""
#: The conventional cell: eight atoms in a cube.
_INPUT = """\
&control
    calculation = 'scf'
    pseudo_dir = './'
    outdir = './out'
    disk_io = 'none'
/
&system
    ibrav = 1
    celldm(1) = 10.26
    nat = 8
    ntyp = 1
    ecutwfc = {cutoff}
    nosym = .true.
/
&electrons
    conv_thr = 1.0d-9
/
ATOMIC_SPECIES
 Si 28.086 Si.gth
ATOMIC_POSITIONS alat
 Si 0.00 0.00 0.00
 Si 0.00 0.50 0.50
 Si 0.50 0.00 0.50
 Si 0.50 0.50 0.00
 Si 0.25 0.25 0.25
 Si 0.25 0.75 0.75
 Si 0.75 0.25 0.75
 Si 0.75 0.75 0.25
K_POINTS automatic
 {points} {points} {points} 1 1 1
"""

PROBE = program_probe(
    "app.quantum_espresso",
    Program(
        title="Quantum ESPRESSO's time for silicon",
        summary="Quantum ESPRESSO: self-consistent field of eight silicon atoms (PARATEC's kind)",
        source="Quantum ESPRESSO, pw.x",
        command=["pw.x", "-in", "silicon.in"],
        env=dict([TELL_KERNELS]),
        inputs={"silicon.in": _INPUT, "Si.gth": _POTENTIAL},
        params={"cutoff": 16, "points": 1},
        complete=r"JOB DONE\.\s*^=-+=$",
        metrics={
            "time": FigureOfMerit(regex=r"^ *electrons +: .*CPU +(\d+\.\d+)s WALL"),
            "fft_time": FigureOfMerit(regex=r"^ *fftw +: .*CPU +(\d+\.\d+)s WALL", detail=True),
        },
        values={
            "energy": Value(regex=r"^! +total energy += +(\S+) Ry"),
            "accuracy": Value(regex=r"^ *estimated scf accuracy +< +(\S+) Ry", take="last"),
            "iterations": Value(regex=r"convergence has been achieved in +(\d+) iterations"),
        },
        verify=[
            # Eight atoms; the error of the cutoff and of the few points is below 0.5 Ry.
            "abs(energy + 62.9) < 0.8",
            "accuracy < 1e-8",
            "iterations > 1",
        ],
    ),
    """Silicon in plane waves.

    Attributes
    ----------
    cutoff
        Kinetic energy of the largest plane wave, in Ry: the size of the transforms.
    points
        Points of the Brillouin zone along each axis.
    """,
)
