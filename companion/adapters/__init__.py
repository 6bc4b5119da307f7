"""The real parts, each opened from the settings and connected to the session."""
