"""Collect facts of a platform's nodes: processor, memory, system, network, software and storage.

One shell script runs on each node. `gather` reads the script's output into a flat table with dotted
keys such as ``cpu.base_hz``; a key with a unit names an SI base unit. `bareline.vocabulary.facts`
has the label and the format of each fact.
"""
