"""The facts of a platform's nodes: processor, memory, system, network, software, storage.

One shell script runs on each node; `gather` reads its output into flat dotted keys, with SI base
units in their names. `bareline.vocabulary.facts` has the label and the format of each fact.
"""
