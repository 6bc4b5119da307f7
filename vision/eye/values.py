"""Fuses the value classifiers: the reader, the pattern of the pips and the straightened face.

The reader is the most reliable one and decides the value unless it is uncertain. The pip pattern
marks doubtful values. The straightened face is scored only if these two are uncertain; its
errors differ from theirs. Several passes are fused by the mean of their log probabilities.
"""

from __future__ import annotations

import numpy as np

from vision.eye.nets import Scores, softmax
from vision.eye.pips import margin

_LEAST = 1e-6
"""Added to probabilities, so that their logarithms are finite."""
_PATTERN = 0.3
"""Cost (nats) of a misfit of one squared pip (docs/evaluation.md, thresholds)."""
_SURE = 0.97
"""Probability in every pass above which the reader is confident (docs/evaluation.md,
thresholds)."""
_NEARLY = -0.3
"""Largest margin (squared pips, mean of the passes) of another value if the reader is not
confident."""
_BETTER = 0.3
"""Largest margin (squared pips, mean of the passes) of another value if the reader is confident."""
_MUCH_BETTER = 1.0
"""Largest margin (squared pips, mean of the passes) of another value if the straightened face
agrees (docs/evaluation.md, thresholds)."""


def fuse_value_scores(
    values: Scores, pips: Scores, square_on: Scores | None = None
) -> tuple[Scores, bool]:
    """Return the probability of each value of a die (6,), and whether the classifiers agree.

    Args:
        values: (L, 6) the reader's probabilities in each pass.
        pips: (L, 6) error of each value's pip pattern in each pass.
        square_on: (6,) probabilities of the straightened face, if it was scored.
    Returns:
        Probabilities, and whether every pass and the pips agree on the likeliest value. With
        `square_on`: whether it, the mean of the passes and the pips agree.
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
    """Mean (6,) over L passes (L, 6), of which there is mostly one."""
    return looks[0] if len(looks) == 1 else np.asarray(looks.mean(axis=0), np.float32)
