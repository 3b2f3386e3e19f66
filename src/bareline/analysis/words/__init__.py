"""All English sentences of the analysis."""
