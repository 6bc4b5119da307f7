"""Every sentence people read or hear, as entries of a catalogue in four languages."""
