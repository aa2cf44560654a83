"""Ways to find adversarial attention, and bounds on what can be found."""
