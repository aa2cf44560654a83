"""One file a corpus: where its files lie and what its documents are."""
