"""Readers of benchmark outputs, which refuse outputs that they do not understand.

Each program has a module with its reader. The probe that runs a program and ``bareline import``,
which reads existing outputs, use the same reader and therefore accept and refuse the same outputs.
A reader is a pure function of a text. It raises `ParseError` (or returns a failed `Reading`) if the
text is not a successful output.
"""
