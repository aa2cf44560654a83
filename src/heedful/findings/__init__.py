"""What runs show together: figures, claims, comparisons with published values. Numbers only; `report` renders them."""
