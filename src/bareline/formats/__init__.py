"""Readers of benchmark outputs, without guessing: one module per program.

The probe that runs a program and ``bareline import``, which takes outputs that exist already, use
the same reader, so that both take and refuse the same. A reader is pure: it gets a text, and raises
`ParseError` (or gives a failed `Reading`) where its program prints something else on success.
"""
