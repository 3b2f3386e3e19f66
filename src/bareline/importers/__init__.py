"""Existing outputs of benchmarks, read into runs: one module per format.

See `bareline.importers.base` for what an importer is and `bareline.intake` for what
``bareline import`` does with it.
"""

from bareline.importers.base import Imported, Importer, load_importers

__all__ = ["Imported", "Importer", "load_importers"]
