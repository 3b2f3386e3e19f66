"""What a platform's nodes are: processor, memory, system, network, software, storage.

`gather` runs one shell script on each node and reads what it prints into flat dotted keys, with
SI base units in their names. `bareline.vocabulary.facts` says how each fact is called and shown.
"""

from bareline.facts.gather import gather, merge_nodes, parse_node, script
from bareline.facts.steal import StealReading, steal_caveats, steal_ratio

__all__ = [
    "StealReading",
    "gather",
    "merge_nodes",
    "parse_node",
    "script",
    "steal_caveats",
    "steal_ratio",
]
