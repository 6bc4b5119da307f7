"""Makes the eye's weights again; never needed to play or to test (see `vision/weights`)."""
