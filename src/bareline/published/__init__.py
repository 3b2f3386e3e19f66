"""The figures of the five publications, and their relation to bareline's measurements."""
