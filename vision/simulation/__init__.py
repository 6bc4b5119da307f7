"""Synthetic scenes: the renderer, random scenes and the simulated camera."""
