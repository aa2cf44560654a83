"""A campaign against heedful: kills at random moments and hostile inputs, counted; failing cases are kept as files."""
