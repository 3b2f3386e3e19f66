"""Collect facts of a platform's nodes: processor, memory, system, network, software and storage.

One shell script runs on each node. `gather` reads the script's output into flat dotted keys, with
SI base units in their names. `bareline.vocabulary.facts` has the label and the format of each fact.
"""
