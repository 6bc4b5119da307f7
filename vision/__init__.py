"""The eye: frames in, readings out."""
