"""What was measured of one tray: saved, loaded, checked and applied."""
