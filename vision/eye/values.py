"""What the witnesses of a value say together: the classifier, the pattern of the pips and, where
these leave a doubt, the face seen square on.

The classifier is by far the better one: of 8,787 own dice 17 are read wrong, and one of
the 8,632 on which every look of it was as sure as `_SURE`. So the value is its own but where it
wavers; the pattern says where to doubt it: 11 of the right ones among those 8,632, and of the
others 70 of 139 right and 9 of 16 wrong. Of several looks the mean of their log odds counts. Of 72
other own dice that three looks leave in doubt these two read 51 right, and 62 with the face seen
square on; it errs in its own ways, so what it and they name alike counts.
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
second where every look of the classifier is as sure as `_SURE` ..."""
_MUCH_BETTER = 1.0
"""... or where the straightened face names it too: of those 72 dice 37 are then sure, 32 with
`_BETTER`, and none is wrong either way."""


def fuse_value_scores(
    values: Scores, pips: Scores, square_on: Scores | None = None
) -> tuple[Scores, bool]:
    """How likely each value of a die is (6,), and whether its witnesses agree.

    Args:
        values: (L, 6) what each look says.
        pips: (L, 6) how badly the pips that each made out fit each value.
        square_on: (6,) what the straightened face says, where it was asked.
    Returns:
        Probabilities, and whether the pips and every look name the likeliest alone; once the face
        was asked, whether it and what all looks come to name the same.
    """
    misfit = _mean(pips)
    said = _mean(np.log(values + _LEAST)) - _PATTERN * misfit
    named = int(said.argmax())
    other = margin(misfit, named + 1)
    if square_on is not None:
        agree = int(square_on.argmax()) == named and other <= _MUCH_BETTER
        return softmax(said + np.log(square_on + _LEAST)), agree
    sure = float(values[:, named].min()) > _SURE
    agree = bool((values.argmax(axis=1) == named).all())
    return softmax(said), agree and other <= (_BETTER if sure else _NEARLY)


def _mean(looks: Scores) -> Scores:
    """The mean (6,) of some looks (L, 6), of which there is mostly one."""
    return looks[0] if len(looks) == 1 else np.asarray(looks.mean(axis=0), np.float32)
