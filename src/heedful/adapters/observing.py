"""Evidence of a subject's texts, with scores where its logits are affine in its attention."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from heedful.adapters.affine import AFFINE, affine, recovered
from heedful.adapters.subject import Seen, Subject
from heedful.adapters.texts import Texts
from heedful.errors import BadInput
from heedful.evidence import Evidence, probabilities


def observe(
    subject: Subject,
    ids: Sequence[str],
    texts: Texts,
    seen: Seen | None = None,
    *,
    exact: bool | None = None,
    **known: Any,
) -> Evidence:
    """Evidence of texts that have items; `known` are further fields, such as labels.

    `exact`: whether the logits are affine in attention; by default some texts are read to find out. Find out once when
    observing texts part by part, so that all parts are alike.
    """
    seen = subject.read(texts) if seen is None else seen
    if affine(subject, texts) if exact is None else exact:
        scores, bias, error = recovered(subject, texts)
        if not (error <= AFFINE).all():
            worst = int(np.argmax(error))
            raise BadInput(
                f"instance '{ids[worst]}': logits under other attention are {error[worst]:.3g} away from what scores "
                "and bias say, so they are not affine in attention here; observe without scores (exact=False)"
            )
        known |= {"scores": scores, "bias": bias}
    return Evidence(
        ids=ids,
        tokens=texts.names,
        weights=seen.weights.like(seen.weights.values.astype(np.float32)),
        output=probabilities(seen.logits).astype(np.float32),
        classes=subject.classes,
        **known,
    )
