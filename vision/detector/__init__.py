"""The parts of the detector, from a picture to a status; `vision.pipeline` puts them together.

`candidates` finds places that may be dice and `classifier` classifies each from crops. `faces`
classifies the straightened top face if a value is unclear. `search` runs them, and searches
enlarged parts of the picture if dice are missing. `values`, `tilt` and `context` combine the
outputs. `known_dice` adds the colours of a known dice set. `status` decides the reading.
"""
