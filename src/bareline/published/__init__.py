"""The figures of five publications, and their relation to bareline's measurements."""
