"""Instances of a cloud: made, waited for, repaired, given back, and never forgotten.

What every cloud has in common: `provider` says what one must be able to do, `journal` keeps what
was made, `group` brings instances up and replaces those that fail, `remains` removes what a killed
bareline left, `allocation` measures over ssh as on any other hosts.
"""
