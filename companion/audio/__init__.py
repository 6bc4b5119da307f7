"""Speech: what is spoken aloud, by which program and in which voice."""
