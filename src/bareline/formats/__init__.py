"""What benchmarks print, read without guessing: one module per program.

The probe that runs a program and the importer of outputs that exist already use the same reader,
so that both take and refuse the same. A reader is pure: it gets a text, knows no file and no
platform, and raises `ParseError` (or gives a failed `Reading`) where the text is not what its
program prints when it succeeds.
"""
