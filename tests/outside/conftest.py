"""The sample is collected where it is installed, not here."""

collect_ignore = ["sample"]
