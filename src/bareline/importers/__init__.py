"""Existing outputs of benchmarks, read into runs: one module per format.

See `bareline.importers.base` for what an importer is, `bareline.importers.files` for how files
come to it, and `bareline.session.intake` for what ``bareline import`` does with what is found.
"""

from bareline.importers.base import Importer, load_importers

__all__ = ["Importer", "load_importers"]
