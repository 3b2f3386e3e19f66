"""What benchmarks print, read without guessing: one module per program.

The probe that runs a program and ``bareline import``, which takes outputs that exist already, use
the same reader, so that both take and refuse the same. A reader is pure: it gets a text, knows no
file and no platform, and raises `ParseError` (or gives a failed `Reading`) where the text is not
what its program prints when it succeeds. Who imports such outputs ends in ``IMPORTER = ...``
(`bareline.formats.importer`); `bareline.formats.files` finds them in files and folders.
"""
