"""The parts of the eye, from whole pictures to a verdict; `vision.pipeline` puts them together.

`finder` finds where dice may lie, `reader` looks at each closely, `square_on` at the straightened
faces of those whose value is in doubt, `search` does all that and looks nearer where dice are
missed; `values`, `lean`, `jury` and `sizes` weigh what was seen, `marbled` looks beneath black
tops, `known_dice` adds what is known of a household's dice, and `verdict` says what it comes to.
"""
