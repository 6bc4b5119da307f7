"""The parts of the detector, from a picture to a status; `vision.pipeline` puts them together.

`candidates` finds places that may be dice and `classifier` classifies each from a crop and from
`upright` views. `tilt` and `context` compare all dice of the picture. `mirror` and `pooling`
combine two looks at it. `known_dice` adds the colours of a known dice set. `status` decides the
reading.
"""
