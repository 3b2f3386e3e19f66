"""The command line."""

import gc

# The parser and the models are made of very many objects, all of which stay: to look for circles
# among them takes a tenth of the start, even once. Here, because it is needed before typer is
# imported.
gc.set_threshold(200_000)
