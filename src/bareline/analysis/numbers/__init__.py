"""Turn records into rows of numbers, without judgements and sentences."""
