"""Sources of frames: one interface, and an adapter for each kind of camera."""
