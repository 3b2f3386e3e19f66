"""The command line of bareline."""

import gc

# The parser and the models have very many objects, and all of them stay. Even one search for
# circular references among them takes a tenth of the start. The call is here since it must come
# before the import of typer.
gc.set_threshold(200_000)
