"""Words that every other room shares: values, units, errors, verdicts, caveats."""
