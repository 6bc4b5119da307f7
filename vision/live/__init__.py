"""The tray while a game is on: frames in, rolls out."""
