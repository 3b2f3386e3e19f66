"""The input of High-Performance Linpack, which HPC Challenge begins with, too."""

from __future__ import annotations

import math

#: One variant of each choice, the program's own recommendation.
_CHOICES = """\
16.0         threshold
1            number of panel factorizations
2            PFACTs (0=left, 1=Crout, 2=Right)
1            number of recursive stopping criteria
4            NBMINs
1            number of panels in recursion
2            NDIVs
1            number of recursive panel factorizations
1            RFACTs (0=left, 1=Crout, 2=Right)
1            number of broadcasts
1            BCASTs (0=1rg, 1=1rM, 2=2rg, 3=2rM, 4=Lng, 5=LnM)
1            number of lookahead depths
1            DEPTHs
2            SWAP (0=bin-exch, 1=long, 2=mix)
64           swapping threshold
0            L1 in (0=transposed, 1=no-transposed) form
0            U  in (0=transposed, 1=no-transposed) form
1            Equilibration (0=no, 1=yes)
8            memory alignment in double
"""


def process_grid(ranks: int) -> tuple[int, int]:
    """Give the rows and columns of the most nearly square grid, no more rows than columns."""
    rows = max(rows for rows in range(1, math.isqrt(ranks) + 1) if ranks % rows == 0)
    return rows, ranks // rows


def input_text(order: int, block: int, ranks: int, *, to_stdout: bool) -> str:
    """Write HPL.dat, for one system.

    The program reads it line by line; the words after the values are ours.

    - `order`, `block`: of the matrix, and of the blocks in which it is dealt out.
    - `to_stdout`: where the results go; HPC Challenge leaves them in its own file.
    """
    rows, columns = process_grid(ranks)
    return (
        "HPLinpack benchmark input file\n"
        "made by bareline\n"
        "HPL.out      output file name (if any)\n"
        f"{6 if to_stdout else 8}            device out (6=stdout,7=stderr,file)\n"
        "1            number of problem sizes (N)\n"
        f"{order:<12} Ns\n"
        "1            number of NBs\n"
        f"{block:<12} NBs\n"
        "0            PMAP process mapping (0=Row-,1=Column-major)\n"
        "1            number of process grids (P x Q)\n"
        f"{rows:<12} Ps\n"
        f"{columns:<12} Qs\n"
        f"{_CHOICES}"
    )
