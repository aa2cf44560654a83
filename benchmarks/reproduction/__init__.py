"""The page docs/reproduction.md: what the papers' experiments give here, beside the published figures."""
