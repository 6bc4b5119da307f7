"""The set-up wizard: measure a tray step by step."""
