"""The kinds of exhibits: one module each, found by name; see `bareline.report.exhibits.base`."""
