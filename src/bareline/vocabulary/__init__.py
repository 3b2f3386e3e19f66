"""Words that all other packages share: values, units, errors, verdicts, caveats."""
