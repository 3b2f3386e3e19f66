"""What a platform's nodes are: processor, memory, system, network, software, storage.

`gather` runs one shell script on each node and reads what it prints into flat dotted keys, with
SI base units in their names. `bareline.vocabulary.facts` says how each fact is called and shown.
"""
