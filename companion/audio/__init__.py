"""Speech: what an announcement cancels, by which program it is spoken and in which voice."""
