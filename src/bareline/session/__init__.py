"""One execution of a study: begin, run, judge, take in."""
