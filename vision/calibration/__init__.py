"""Measurements of one tray: saved, loaded, checked and applied."""
