"""Each fast path against a plain version of the papers' algorithm: same instances, one process, ratios."""
