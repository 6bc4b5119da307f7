"""Measure the detector against annotated frames."""
