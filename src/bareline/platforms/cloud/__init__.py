"""Instances of a cloud: made, waited for, repaired, given back, and never forgotten.

What every cloud has in common: `provider` says what one must be able to do, `journal` keeps what
was made and removes what a killed bareline left, `group` brings instances up and replaces those
that fail, `platform` measures over ssh as on any other hosts.
"""
