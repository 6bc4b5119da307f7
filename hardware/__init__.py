"""The button, the lamp, the buzzer and their pins."""
