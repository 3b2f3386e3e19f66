"""From records to verdicts: summaries, comparisons, sentences, causes."""
