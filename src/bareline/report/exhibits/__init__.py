"""The kinds of exhibits, one module each; see `bareline.report.exhibits.base`."""
