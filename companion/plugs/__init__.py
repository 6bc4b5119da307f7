"""The table's parts, each opened as the settings want it and plugged into the session."""
