"""One script per page; thin: read inputs, one call, present, draw."""
