"""Containers as a layer: a runtime on any platform's nodes, so that platforms differ in it alone.

`options` is what a user writes, `runtimes` the command lines of each runtime, `boxes` the
containers in use, `look` what is seen from inside and whether programs from outside run there.
"""
