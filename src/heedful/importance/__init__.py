"""Importance: how much each item matters to a model's output, measured on the model itself.

A measure is one file, written against `measure.Instances`, and one line here.
"""

from typing import TYPE_CHECKING

from heedful.registry import Registry

if TYPE_CHECKING:
    from heedful.importance.measure import Measure

MEASURES: "Registry[Measure]" = Registry(
    {
        "gradient": "heedful.importance.gradient",
        "gradient_through_attention": "heedful.importance.gradient",
        "leave_one_out": "heedful.importance.leave_one_out",
        "integrated_gradients": "heedful.importance.integrated_gradients",
        "gradient_input": "heedful.importance.gradient",
        "leave_one_out_blank": "heedful.importance.leave_one_out",
    }
)

# what is measured unless others are named: adding a measure does not change what a configuration means
RUN_MEASURES = ("gradient", "gradient_through_attention", "leave_one_out", "integrated_gradients")
VERDICT_MEASURES = ("gradient", "gradient_input", "leave_one_out")  # of an audit that measures what a verdict needs
AUDIT_MEASURES = ("gradient", "gradient_input", "integrated_gradients", "leave_one_out", "leave_one_out_blank")
ATTRIBUTIONS = ("gradient_input", "integrated_gradients", "leave_one_out")  # signed, as rankings of items
