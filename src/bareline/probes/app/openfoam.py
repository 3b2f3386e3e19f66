"""The probe of OpenFOAM: the flow in a cavity under a moving lid, by finite volumes.

The code is Debian's unchanged package ``openfoam``, built with Open MPI. Its numerical method is
finite volumes on an unstructured mesh. Ranks exchange data with neighbouring parts of the mesh.
Preconditioned conjugate gradients need many small sums over all ranks.

References
----------
H. G. Weller, G. Tabor, H. Jasak, C. Fureby, "A tensorial approach to computational continuum
mechanics", Computers in Physics 12 (1998), doi:10.1063/1.168744.
"""

from __future__ import annotations

from bareline.probes.app.program import Program, program_probe
from bareline.probes.app.value import FigureOfMerit, Value

#: The texts of the case's files, without the head that OpenFOAM needs above each text.
_TEXTS = {
    "0/U": """\
dimensions [0 1 -1 0 0 0 0];
internalField uniform (0 0 0);
boundaryField
{
    lid { type fixedValue; value uniform (1 0 0); }
    walls { type noSlip; }
    sides { type empty; }
}
""",
    "0/p": """\
dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField
{
    lid { type zeroGradient; }
    walls { type zeroGradient; }
    sides { type empty; }
}
""",
    "constant/transportProperties": "nu [0 2 -1 0 0 0 0] 0.01;\n",
    "system/blockMeshDict": """\
scale 0.1;
vertices
(
    (0 0 0) (1 0 0) (1 1 0) (0 1 0)
    (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1)
);
blocks ( hex (0 1 2 3 4 5 6 7) ({cells} {cells} 1) simpleGrading (1 1 1) );
edges ();
boundary
(
    lid { type wall; faces ((3 7 6 2)); }
    walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
    sides { type empty; faces ((0 3 2 1) (4 5 6 7)); }
);
""",
    "system/controlDict": """\
application icoFoam;
startFrom startTime;
startTime 0;
stopAt endTime;
endTime {end_s};
deltaT {step_s};
adjustTimeStep no;
writeControl timeStep;
writeInterval 1000000;
timeFormat general;
timePrecision 8;
runTimeModifiable false;
""",
    "system/fvSchemes": """\
ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }
""",
    "system/fvSolution": """\
solvers
{
    p { solver PCG; preconditioner DIC; tolerance 1e-06; relTol 0.05; }
    pFinal { $p; relTol 0; }
    U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; }
}
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }
""",
    "system/decomposeParDict": """\
numberOfSubdomains {ranks};
method simple;
coeffs { n ({ranks} 1 1); }
""",
}
_KINDS = {"U": "volVectorField", "p": "volScalarField"}


def _file(path: str, text: str) -> str:
    name = path.rpartition("/")[2]
    kind = _KINDS.get(name, "dictionary")
    return f"FoamFile {{ version 2.0; format ascii; class {kind}; object {name}; }}\n{text}"


PROBE = program_probe(
    "app.openfoam",
    Program(
        title="OpenFOAM's time for a cavity",
        summary="OpenFOAM: flow in a lid-driven cavity, icoFoam (unstructured finite volumes)",
        source="OpenFOAM, icoFoam",
        command=["icoFoam", "-parallel"],
        steps=[["blockMesh"], ["decomposePar"]],
        inputs={path: _file(path, text) for path, text in _TEXTS.items()},
        # Debian's programs search for their folder "etc" in this folder.
        env={"WM_PROJECT_DIR": "/usr/share/openfoam"},
        params={"cells": 40, "step_s": 0.00125, "end_s": 0.1},
        min_ranks=2,
        complete=r"^Finalising parallel run$",
        metrics={
            # ClockTime has whole seconds. ExecutionTime is processor time, which includes waiting
            # in MPI, because a waiting rank keeps its core busy.
            "time": FigureOfMerit(regex=r"^ExecutionTime = (\S+) s", take="last"),
            "clock_time": FigureOfMerit(
                regex=r"^ExecutionTime = .* ClockTime = (\d+) s", take="last", detail=True
            ),
        },
        values={
            "reached_s": Value(regex=r"^Time = (\S+)$", take="last"),
            "courant": Value(regex=r"^Courant Number mean: \S+ max: (\S+)$", take="max"),
            "residual": Value(
                regex=r"Solving for p, Initial residual = \S+, Final residual = (\S+),", take="last"
            ),
            "continuity": Value(
                regex=r"^time step continuity errors : .* cumulative = (\S+)$", take="last"
            ),
        },
        verify=[
            "abs(reached_s - end_s) < 1e-6",
            "courant < 1",
            "residual < 1e-6",
            "abs(continuity) < 1e-9",
        ],
    ),
    """OpenFOAM's cavity.

    Attributes
    ----------
    cells
        Cells along each side.
    step_s
        Step of time; more cells need a shorter one, so that no flow crosses a cell in it.
    end_s
        Time that is simulated; the flow is at rest in the beginning.
    """,
)
