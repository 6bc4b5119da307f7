"""Setting a tray up: what people are led through, step by step."""
