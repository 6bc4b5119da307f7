"""What is known of one tray: measured, saved, checked, put to use."""
