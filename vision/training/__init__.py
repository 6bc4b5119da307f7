"""Train the weights of the detector; not needed to play or to test (see `vision/weights`)."""
