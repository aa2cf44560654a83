"""Words: tokenising, vocabulary, pretrained vectors."""
