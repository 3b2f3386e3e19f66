"""The command line."""

import gc

# The parser is made of very many objects, all of which stay: to look for circles among them again
# and again takes a tenth of the start. Here, because it has to stand before typer is imported.
gc.set_threshold(50_000)
