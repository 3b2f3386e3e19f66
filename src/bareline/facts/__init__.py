"""What a platform's nodes are: processor, memory, system, network, software, storage.

`gather` runs one shell script on each node and reads what it prints into flat dotted keys, with
SI base units in their names; `table` and `diff` put platforms side by side. `keys.FACT_KEYS`
says how each fact is shown.
"""

from bareline.facts.blas import BLAS_KERNELS, GENERIC_BLAS, blas_caveats
from bareline.facts.gather import gather, merge_nodes, parse_node, script
from bareline.facts.keys import FACT_KEYS, FactKey, Group, Kind, describe, format_fact
from bareline.facts.steal import StealReading, read_steal, steal_caveats, steal_ratio
from bareline.facts.table import Row, diff, table, to_rows

__all__ = [
    "BLAS_KERNELS",
    "FACT_KEYS",
    "GENERIC_BLAS",
    "FactKey",
    "Group",
    "Kind",
    "Row",
    "StealReading",
    "blas_caveats",
    "describe",
    "diff",
    "format_fact",
    "gather",
    "merge_nodes",
    "parse_node",
    "read_steal",
    "script",
    "steal_caveats",
    "steal_ratio",
    "table",
    "to_rows",
]
