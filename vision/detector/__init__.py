"""The parts of the eye, from whole pictures to a verdict; `vision.pipeline` puts them together.

`finder` finds candidates and `reader` classifies each from crops. `square_on` classifies the
straightened top face if a value is unclear. `search` runs them, and searches enlarged parts of the
picture if dice are missing. `values`, `lean`, `jury` and `sizes` combine the outputs. `marbled`
checks the colour below black tops. `known_dice` adds the colours of a known dice set. `verdict`
decides the reading.
"""
