"""The basic types that all other packages use: values, units, errors, verdicts and caveats."""
