"""Existing outputs of benchmarks, read into runs: one module per format.

See `bareline.importers.base` for what an importer is and `bareline.importers.intake` for what
``bareline import`` does with it.
"""

from bareline.importers.base import Imported, Importer, load_importers
from bareline.importers.intake import Intake, import_files, read_again

__all__ = ["Imported", "Importer", "Intake", "import_files", "load_importers", "read_again"]
