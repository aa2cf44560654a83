"""Importance: how much each token matters to a model's output, measured on the model itself. One measure a file."""

# the names, without torch, so that a configuration is checked at once; `table.py` has what each does
MEASURES = ("gradient", "gradient_through_attention", "leave_one_out", "integrated_gradients")
