"""Heat-maps of single instances: in the terminal, in files, and a gallery of striking ones."""
