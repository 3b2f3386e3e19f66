"""From records to cells: no judgement and no sentence."""
