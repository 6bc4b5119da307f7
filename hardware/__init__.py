"""The button and its pins."""
