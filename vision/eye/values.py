"""What both witnesses of a value, the classifier and the pattern of the pips, say together.

The classifier is by far the better one: of 4,667 own dice it was wrong on 8, and on one of the
4,576 on which every look was as sure as `_SURE`. So the value is its own; the pattern only says
where to doubt it: 3 of the right ones among those 4,576, and of the others 40 of 84 right and 3
of 7 wrong.
"""

from __future__ import annotations

import numpy as np

from vision.eye.nets import Scores
from vision.eye.pips import margin
from vision.eye.reader import Look

_SURE = 0.97
_NEARLY = -0.3
_BETTER = 0.3
"""By how much (in pips squared, mean of the looks) another value may explain the pips better; the
second where every look of the classifier is as sure as `_SURE`."""


def weighed(look: Look) -> tuple[Scores, bool]:
    """How likely each value of a die is (6,), and whether its witnesses agree.

    Returns:
        Probabilities, and whether every look and the pips name the likeliest value alone.
    """
    likely = look.values.mean(axis=0)
    best = int(likely.argmax())
    sure = float(look.values[:, best].min()) > _SURE
    agree = bool((look.values.argmax(axis=1) == best).all())
    other = margin(np.asarray(look.pips.mean(axis=0)), best + 1)
    return likely, agree and other <= (_BETTER if sure else _NEARLY)
