"""Readings over time: frames in, rolls out."""
