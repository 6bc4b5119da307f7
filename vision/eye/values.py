"""What both witnesses of a value, the classifier and the pattern of the pips, say together.

The classifier is by far the better one: of 8,787 own dice 17 are read wrong, and one of
the 8,632 on which every look of it was as sure as `_SURE`. So the value is its own but where it
wavers; the pattern says where to doubt it: 11 of the right ones among those 8,632, and of the
others 70 of 139 right and 9 of 16 wrong. Of several looks the mean of their log odds counts.
"""

from __future__ import annotations

import numpy as np

from vision.eye.nets import Scores, softmax
from vision.eye.pips import margin

_LEAST = 1e-6
_PATTERN = 0.3
"""What a misfit of one pip squared says (in nats) against a value: of 138 own dice that the
classifier leaves in doubt 121 are read right with it, 119 without, and 119 again with 1.0."""
_SURE = 0.97
_NEARLY = -0.3
_BETTER = 0.3
"""By how much (in pips squared, mean of the looks) another value may explain the pips better; the
second where every look of the classifier is as sure as `_SURE`, or where there are many."""
_CLEAR = 0.98
_FEW = 3
"""A die less likely than that to show its value gets more looks than so many. Of nine one may err,
and what they say together counts: so 453 of 480 own frames are announced, 448 with three looks for
all, and no other roll is announced wrong."""


def wavers(values: Scores, pips: Scores) -> bool:
    """Whether looks (see `weighed`) leave the value of a die in doubt."""
    likely, agree = weighed(values, pips)
    return not agree or float(likely.max()) < _CLEAR


def weighed(values: Scores, pips: Scores) -> tuple[Scores, bool]:
    """How likely each value of a die is (6,), and whether its witnesses agree.

    Args:
        values: (L, 6) what each look says.
        pips: (L, 6) how badly the pips that each made out fit each value.
    Returns:
        Probabilities, and whether every look, of a few, and the pips name the likeliest alone.
    """
    misfit = pips.mean(axis=0)
    likely = softmax(np.log(values + _LEAST).mean(axis=0) - _PATTERN * misfit)
    best = int(likely.argmax())
    sure = float(values[:, best].min()) > _SURE
    other = margin(np.asarray(misfit), best + 1)
    if len(values) > _FEW:
        return likely, other <= _BETTER
    agree = bool((values.argmax(axis=1) == best).all())
    return likely, agree and other <= (_BETTER if sure else _NEARLY)
