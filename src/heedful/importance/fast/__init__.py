"""Fast exact forms of gradients and leave-one-out, each tested against a plain version of itself."""
